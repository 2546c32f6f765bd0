"""Summaries of postings."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts.views.requests import present
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.summaries import summary_of_posting
from apps.web.views.rendering import Request


@require_safe
@vary_on_headers("HX-Request")
def summary(request: Request, posting_id: int) -> HttpResponse:
    """The summary in another length for htmx; other requests are redirected to the posting."""
    percent = chosen_percent(request)
    if not request.htmx:
        query = f"?percent={percent}" if percent else ""
        return redirect(f"{reverse('posting', args=[posting_id])}{query}#summary")
    part = present(summary_of_posting(request.user, posting_id, percent), "There is no such posting.")
    return render(request, "reading/_summaries_part.html", {"summary": part})


def chosen_percent(request: Request) -> int | None:
    """The requested length of the summary, in percent of the text."""
    return whole_number(request.GET.get("percent", ""), 999)
