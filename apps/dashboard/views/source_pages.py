"""The crawled pages of a source, the limits of its crawl and its keen tags."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import PersonsRequest, for_staff, present, staff_post
from apps.dashboard.forms.crawl import CrawlForm, KeenTagsForm
from apps.dashboard.pages.source_pages import keen_tags_page, source_pages_page
from apps.retrieval import actions
from apps.retrieval.models import Page
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import back, show


@for_staff
def index(request: PersonsRequest, source_id: int) -> HttpResponse:
    page = present(
        source_pages_page(
            request.user,
            source_id,
            kind=request.GET.get("kind", ""),
            words=request.GET.get("words", "")[:200],
            number=request.GET.get("page", "1"),
        ),
        "There is no such source.",
    )
    crawl = page["crawl"]
    initial = {name: getattr(crawl, name) for name in CrawlForm.base_fields} if crawl else None
    form = CrawlForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        actions.change_crawl(source_id, now=now(), **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("source_pages", source_id)
    return show(request, "dashboard/source_pages.html", page=page, form=form)


@staff_post
def decide(request: HttpRequest, source_id: int, page_id: int) -> HttpResponse:
    """Fetch a page again, or exclude it."""
    kind = request.POST.get("kind", "")
    if kind not in ("", Page.Kind.VALUELESS) or not actions.decide_page(source_id, page_id, kind, now=now()):
        raise Http404("There is no such page.")
    return back(request, "sources")


@for_staff
def keen_tags(request: HttpRequest, source_id: int) -> HttpResponse:
    page = present(keen_tags_page(source_id), "There is no such source.")
    form = KeenTagsForm(request.POST or None, initial={"tags": " ".join(page["tags"] or ())})
    if request.method == "POST":
        if "train" in request.POST:
            return _train(request, source_id)
        if form.is_valid():
            actions.set_keen_tags(source_id, form.cleaned_data["tags"], now=now())
            messages.success(request, _("Saved."))
            return redirect("keen_tags", source_id)
    return show(request, "dashboard/keen_tags.html", page=page, form=form)


def _train(request: HttpRequest, source_id: int) -> HttpResponse:
    try:
        trained = actions.train_keen_tags(source_id, now=now())
    except ValueError as problem:
        messages.warning(request, translate_reason(str(problem)))
    else:
        messages.success(
            request,
            _("Trained with {number} pages: F1 of text extraction is {after}, was {before}.").format(
                number=trained.pages, after=f"{trained.after:.3f}", before=f"{trained.before:.3f}"
            ),
        )
    return redirect("keen_tags", source_id)
