"""The first steps of new users, and dismissing recommendations."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import get_language_from_request
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header

from apps.accounts.views.requests import errors_in, person_get, person_post
from apps.following import queries as following
from apps.following.actions import NotPossible
from apps.reading.forms.following import InterestsForm
from apps.reading.pages.onboarding import filling_page, of_interest, welcome_page
from apps.recommendations import actions as recommendations
from apps.retrieval.actions import following as retrieval
from apps.web.views.rendering import PersonsRequest, Request, back, show


@login_required
def welcome(request: PersonsRequest) -> HttpResponse:
    """Choose interests, or import a list, or skip both."""
    given = request.POST or request.GET
    languages = given.getlist("languages") if request.POST or request.htmx else _accepted(request)
    page = welcome_page(languages, chosen=given.getlist("categories"))
    form = InterestsForm(
        request.POST if request.method == "POST" else None,
        languages=[language.code for language in page["languages"]],
        categories=page["categories"],
    )
    if request.method == "POST" and form.is_valid():
        found = of_interest(form.cleaned_data["categories"], form.cleaned_data["languages"])
        with errors_in(form, NotPossible):
            retrieval.follow_all(request.user, found, now=now())
            if found:
                return redirect("filling")
            form.add_error(None, _("There is nothing on this in these languages yet."))
    return show(request, "reading/welcome.html", page=page, form=form)


def _accepted(request: Request) -> list[str]:
    """The languages of the Accept-Language header, the preferred first."""
    header = request.headers.get("Accept-Language", "")[:500]
    named = [code for code, _weight in parse_accept_lang_header(header) if code != "*"]
    return named or [get_language_from_request(request)]


@person_get
def filling(request: PersonsRequest) -> HttpResponse:
    """The news of the newly followed sources; htmx polls until all of them were checked."""
    return show(request, "reading/filling.html", part="reading/_filling.html", page=filling_page(request.user, now()))


@person_post
def dismiss(request: PersonsRequest, source_id: int) -> HttpResponse:
    if not following.visible_sources(request.user).filter(pk=source_id).exists():
        raise Http404("There is no such source.")
    recommendations.dismiss(request.user, source_id, now=now())
    if request.htmx:
        return HttpResponse()
    messages.success(request, _("It will no longer be recommended to you."))
    return back(request, "catalogue")
