"""Lists of postings, a posting, and refreshing its source."""

from contextlib import nullcontext, suppress
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts import actions
from apps.accounts.algorithms.typesetting import LEADINGS, SIZES
from apps.accounts.context_processors import COOKIE, TYPESETTING_COOKIE, chosen_theme, chosen_typesetting, remember
from apps.accounts.forms import AppearanceForm, PreferencesForm
from apps.accounts.models import User
from apps.accounts.views.requests import person_get, person_post, present
from apps.database.sanitizing import sanitize
from apps.following import actions as following_actions
from apps.following import queries as following
from apps.following.models import Follow
from apps.following.queries import Scope, readable_by
from apps.published_feeds.pages import menu_of_list
from apps.reading.actions.fetching import Busy
from apps.reading.actions.full_text import TooOften, fetch_text
from apps.reading.pages.posting import posting_page
from apps.reading.pages.river import ListOptions, river_page, view_of
from apps.reading.views.marks import list_in
from apps.reading.views.news import chosen_percent
from apps.retrieval import queries as retrieval
from apps.retrieval.actions import refreshing
from apps.sources.actions.curating import note_opened
from apps.sources.models import Source
from apps.stories import actions as stories_actions
from apps.web.algorithms.numbers import whole_number
from apps.web.pages import Context
from apps.web.pages.sidebar import sidebar
from apps.web.templatetags.formatting import passed
from apps.web.views.rendering import PersonsRequest, Request, back, by, is_from_here, is_prefetch, place_in_list, show

# Parts of the page by the element that shows them: beside a list, or below a row.
_PARTS = {"pane": "reading/_pane.html", "menu": "reading/_expanded.html"}

# Names of the addresses of lists.
_RIVERS = ("river", "river_starred", "river_tag", "river_folder", "river_source")
_STORIES = ("section", "stories", "story", "for_you")
_LISTS = {"home", "search", "history", "notes", "highlights", "shares", *_STORIES, *_RIVERS}

LONGEST_WAIT = timedelta(minutes=1)  # for results on the page
NO_CONTENT = 204  # htmx changes nothing and requests again


@person_get
def river(request: PersonsRequest) -> HttpResponse:
    return _show(request, Scope("all"), _("All articles"))


@person_get
def starred(request: PersonsRequest) -> HttpResponse:
    return _show(request, Scope("starred"), _("Starred"), all_by_default=True)


@person_get
def tag(request: PersonsRequest, tag_id: int) -> HttpResponse:
    found = present(following.tag_of(request.user, tag_id), "You have no such tag.")
    return _show(request, Scope("tag", found.pk), found.name, all_by_default=True)


@person_get
def folder(request: PersonsRequest, folder_id: int) -> HttpResponse:
    found = present(following.folder_of(request.user, folder_id), "You have no such folder.")
    return _show(request, Scope("folder", found.pk), found.name)


@require_safe
def source(request: Request, source_id: int) -> HttpResponse:
    found = present(following.manageable_sources(request.user).filter(pk=source_id).first(), "There is no such source.")
    follow = following.follow_of(request.user, source_id)
    following.hide_address(request.user, found, followed=follow is not None)
    title = (follow.title if follow else "") or str(found)
    return _show(request, Scope("source", source_id), title, found, follow, all_by_default=follow is None)


@require_safe
@vary_on_headers("HX-Request", "HX-Target")
def posting(request: Request, posting_id: int) -> HttpResponse:
    """A posting's page, for htmx its part for the target, or with `mode=reading` its text alone."""
    found = posting_page(request.user, posting_id, chosen_percent(request)) or _private_page(request, posting_id)
    page, moment = present(found, "There is no such posting."), now()
    if request.user.is_authenticated and page["own"].readable and not is_prefetch(request):
        page["was_unread"], page["posting"].unread = page["posting"].unread, False
        with transaction.atomic() if page["was_unread"] else nullcontext():  # the reader waits for one commit of three
            stories_actions.learning.note_opened(request.user, posting_id, now=moment)
            following_actions.marks.remember_read(request.user, [posting_id], now=moment)
            if page["was_unread"]:
                following_actions.marks.mark_read(request.user, [posting_id], read=True, now=moment)
    before = _list_before(request)
    page |= {"list": before, "kept": "?" + urlencode({"list": before}) if before else ""}  # by forms and neighbours
    if request.GET.get("mode") == "reading":
        return _show_text(request, page)
    part = _PARTS.get((request.htmx.target or "").partition("-")[0], "") if request.htmx else ""
    has_form = request.user.is_authenticated and part != _PARTS["menu"] and request.method == "GET"
    if has_form and not is_prefetch(request) and request.session.get("draft", [None])[0] == posting_id:
        page["draft"] = request.session.pop("draft")[1:]
    return show(request, "reading/posting.html", at=Scope("source", page["posting"].source_id), part=part, page=page)


def _list_before(request: Request) -> str:
    """The address of the list from which an article was opened: named in its own address, or where the link was."""
    named = request.GET.get("list") or request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(named, {request.get_host()}, require_https=request.is_secure()):
        return ""
    parts = urlsplit(named)
    with suppress(Resolver404):
        if resolve(parts.path).view_name in _LISTS:
            return parts._replace(scheme="", netloc="", fragment="").geturl()
    return ""


def _private_page(request: Request, posting_id: int) -> Context | None:
    """The page for staff with the permission who do not follow the source; every access is logged."""
    user = request.user
    if not following.may_open_private(user):
        return None
    page = posting_page(user, posting_id, chosen_percent(request), even_private=True)
    if page is not None:
        note_opened(page["posting"].source, posting_id, by(request, "the page of an article"))
    return page


def _show_text(request: Request, page: Context) -> HttpResponse:
    """The text alone; links above it change the typesetting."""
    kept = chosen_typesetting(request)
    chosen = kept.changed(request.GET.dict())
    response = show(
        request, "reading/posting_text.html", alone=True, page=page, typesetting=chosen, sizes=SIZES, leadings=LEADINGS
    )
    if chosen != kept and request.user.is_authenticated:
        actions.set_preferences(request.user, typesetting=chosen.written)
    elif chosen != kept:
        remember(response, {TYPESETTING_COOKIE: chosen.written})
    return response


def _show(
    request: Request,
    scope: Scope,
    title: str,
    source: Source | None = None,
    follow: Follow | None = None,
    *,
    all_by_default: bool = False,
) -> HttpResponse:
    options = _options(request, scope, follow, all_by_default=all_by_default)
    page = river_page(request.user, scope, title, options, localtime(), source, follow)
    part = "reading/_rows.html" if request.htmx and options.start else ""  # the next rows
    feeds = None if part else menu_of_list(request.user, scope)
    shown = None if part else _shown(page, feeds)
    return show(request, "reading/river.html", at=scope, part=part, shown=shown, page=page, feeds=feeds)


def _shown(page: Context, feeds: object) -> object:
    """Equal if pages show the same. None for a feed, whose times of checks are shown."""
    if page["source"]:
        return None
    shown = {name: value for name, value in page.items() if name not in {"shown_at", "list_query"}}
    moment = now()
    return shown, feeds, moment.year, [passed(row.published_at, moment) for row in page["rows"]]


def _options(request: Request, scope: Scope, follow: Follow | None, *, all_by_default: bool) -> ListOptions:
    """List options by the address, or else by the user's preferences."""
    person = request.user
    prefers_unread = person.is_authenticated and person.unread_only and not all_by_default
    preferred_order = person.order if person.is_authenticated else User.Order.NEWEST
    order = request.GET.get("order")
    return ListOptions(
        unread_only={"unread": True, "all": False}.get(request.GET.get("show", ""), prefers_unread),
        order=User.Order(order if order in User.Order.values else preferred_order),
        start=place_in_list(request),
        words=sanitize(request.GET.get("q", "")).strip(),
        view=_view(request, scope, follow),
    )


def _view(request: Request, scope: Scope, follow: Follow | None) -> User.View:
    """The layout of a list. A choice by a link of the portal is stored for that list."""
    person, requested, name = request.user, request.GET.get("view", ""), f"{scope.kind}-{scope.id}"
    view = view_of(person, follow, requested, name)
    is_stored = view == view_of(person, follow, "", name)
    if person.is_authenticated and not is_stored and is_from_here(request) and not is_prefetch(request):
        if follow is not None:
            following_actions.follows.set_view(follow, view)
        elif scope.kind != "source":
            actions.set_list_view(person, name, view)
    return view


@person_post
def refresh(request: PersonsRequest) -> HttpResponse:
    """Check the feeds of a list now, or show when they are checked next."""
    shown = present(list_in(request.POST), "There is no such list.")
    answer = refreshing.refresh(request.user, _source_ids(request.user, shown.scope), now=now())
    context = {"scope": shown.scope, "answer": answer, "most": refreshing.MAX_CHECKS, "now": now()}
    if request.htmx:
        return render(request, "reading/_refresh_answer.html", context)
    messages.info(request, render_to_string("reading/_refresh_answer.html", context, request))
    return back(request, "river")


@person_get
def refreshed(request: PersonsRequest) -> HttpResponse:
    """What the checks of some feeds of a list have found since it was shown, once all have ended."""
    scope, since = present(list_in(request.GET), "There is no such list.")
    wanted = {whole_number(number) for number in request.GET.get("feeds", "").split("-")}
    results = retrieval.results_since(_source_ids(request.user, scope) & wanted, since)
    if results.waiting and now() - since < LONGEST_WAIT:
        return HttpResponse(status=NO_CONTENT)
    context: dict[str, object] = {"scope": scope, "results": results, "now": now()}
    if scope.kind == "source":
        context["next"] = retrieval.schedule_of(scope.id)
    if results.new:
        context["sidebar"] = sidebar(request.user)
    return render(request, "reading/_refresh_results.html", context)


def _source_ids(user: User, scope: Scope) -> set[int]:
    """The followed sources of a list; raises Http404 if it is not the user's."""
    found = set(following.follows_in(user, scope).values_list("source_id", flat=True))
    if not found and scope.kind != "all" and not (scope.kind == "folder" and following.folder_of(user, scope.id)):
        raise Http404("You follow no feeds in this list.")
    return found


@person_post
def full_text(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Fetch the page of a posting, and show its text instead of the teaser."""
    posting = present(readable_by(request.user).exclude(url="").filter(pk=posting_id).first(), "There is no such page.")
    try:
        if not fetch_text(request.user, posting):
            messages.error(request, _("The full text could not be found on the article's page."))
    except TooOften:
        messages.error(request, _("You have opened many full texts within the hour. Try again later."))
    except Busy:
        messages.error(request, _("Many pages are being fetched just now. Try again in a moment."))
    return back(request, "posting", posting_id)


# --- preferences ------------------------------------------------------------------------------------------------------
@login_required
def preferences(request: PersonsRequest) -> HttpResponse:
    form = PreferencesForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        actions.set_preferences(request.user, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("preferences")
    return show(request, "reading/preferences.html", form=form)


@require_http_methods(["GET", "HEAD", "POST"])
def appearance(request: HttpRequest) -> HttpResponse:
    """Set theme, language and typesetting, and redirect to the previous page."""
    person, cookies = request.user, request.COOKIES
    language = person.language if isinstance(person, User) else cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
    kept = chosen_typesetting(request)
    initial = {"theme": chosen_theme(request), "language": language, **kept._asdict()}
    form = AppearanceForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        response = back(request, "home")
        theme, language = form.cleaned_data["theme"], form.cleaned_data["language"]
        typesetting = kept.changed(form.cleaned_data).written
        if isinstance(request.user, User):
            actions.set_preferences(request.user, theme=theme, language=language, typesetting=typesetting)
        else:
            names = (COOKIE, settings.LANGUAGE_COOKIE_NAME, TYPESETTING_COOKIE)
            remember(response, dict(zip(names, (theme, language, typesetting), strict=True)))
        return response
    wanted = request.POST.get("next") or request.GET.get("next", "")
    return show(request, "reading/appearance.html", form=form, next=wanted)
