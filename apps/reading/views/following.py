"""The catalogue, followed sources, their folders and health, and the first steps of new users."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import get_language_from_request
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.http import require_safe

from apps.accounts.models import User
from apps.accounts.views.requests import errors_in, errors_shown, person_get, person_post, present
from apps.database.sanitizing import sanitize
from apps.feed_health import actions
from apps.following import actions as following_actions
from apps.following import queries as following
from apps.following.actions import follows
from apps.following.actions.errors import NotPossible
from apps.following.models import Folder, Follow
from apps.following.queries import Scope
from apps.reading.forms import AddressForm, FolderForm, FollowForm, InterestsForm, Move, NoMove, OpmlForm, read_move
from apps.reading.pages.following import catalogue_page, first_articles_page, health_page, of_interest, welcome_page
from apps.recommendations import actions as recommendations
from apps.retrieval.actions import NoDocument, fetch_document
from apps.retrieval.actions import following as retrieval
from apps.retrieval.models import PAGES_PER_DAY
from apps.sources.algorithms.addresses import BadAddress
from apps.sources.formats import opml
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.reasons import translate_reason
from apps.web.pages.sidebar import sidebar
from apps.web.views.rendering import PersonsRequest, Request, back, show, subscription_file

YEAR = 365 * 86_400  # s
FEEDS_SHOWN = "feeds_shown"  # cookie


@require_safe
def catalogue(request: Request) -> HttpResponse:
    wanted = {name: sanitize(request.GET.get(name, ""))[:200] for name in ("words", "category", "language", "sort")}
    page = catalogue_page(request.user, **wanted, number=request.GET.get("page", "1"), now=now())
    return show(request, "reading/catalogue.html", page=page)


@login_required
def add(request: PersonsRequest) -> HttpResponse:
    """Follow the news at an address; of several feeds of a page the user chooses one, and may accept an offer."""
    form = AddressForm(request.POST or None, user=request.user, initial={"address": request.GET.get("address", "")})
    found = retrieval.Discovery()
    if request.method == "POST" and form.is_valid():
        accepted = request.POST.get("accepted", "")
        try:
            found = retrieval.follow_address(
                request.user, form.cleaned_data["address"], now=now(), folder_ids=form.folder_ids(), accepted=accepted
            )
        except NotPossible as problem:
            form.add_error("address", translate_reason(str(problem)))
        else:
            if found.source_id is not None:
                source = following.visible_sources(request.user).get(pk=found.source_id)
                messages.success(request, _("You now follow %(name)s.") % {"name": source})
                return redirect("river_source", found.source_id)
            if not found.choices and not found.offer:
                form.add_error("address", translate_reason(found.problem))
    return show(
        request, "reading/add.html", form=form, choices=found.choices, offer=found.offer, pages_per_day=PAGES_PER_DAY
    )


@person_post
def follow(request: PersonsRequest, source_id: int) -> HttpResponse:
    source = present(following.visible_sources(request.user).filter(pk=source_id).first(), "There is no such source.")
    try:
        retrieval.follow(request.user, source_id, now=now())
    except NotPossible as problem:
        messages.error(request, str(problem))
        if request.htmx:
            return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    else:
        if request.htmx:
            return render(request, "partials/_follow_button.html", {"source": source, "followed": True, "is_new": True})
    return back(request, "catalogue")


@person_post
def unfollow(request: PersonsRequest, source_id: int) -> HttpResponse:
    follow = _follow(request.user, source_id)
    retrieval.unfollow(request.user, source_id, now=now())
    messages.success(request, _("You no longer follow %(name)s.") % {"name": follow.title or follow.source})
    return back(request, "river")


@login_required
def edit_follow(request: PersonsRequest, source_id: int) -> HttpResponse:
    follow = _follow(request.user, source_id)
    form = FollowForm(request.POST or None, user=request.user, instance=follow)
    if request.method == "POST" and form.is_valid():
        following_actions.follows.edit_follow(follow, **form.cleaned_data)
        return redirect("river_source", source_id)
    return show(request, "reading/follow.html", at=Scope("source", source_id), form=form, follow=follow)


@login_required
def folders(request: PersonsRequest) -> HttpResponse:
    """All folders and sources in their order, and a form for one more folder."""
    form = FolderForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        name, parent = form.cleaned_data["name"], form.cleaned_data["parent"]
        if following.folders_of(request.user).filter(name=name, parent=parent).exists():
            messages.info(request, _("A folder named “%(name)s” already exists.") % {"name": name})
        with errors_in(form, NotPossible):
            following_actions.follows.create_folder(request.user, name, parent)
            return redirect("folders")
    return show(request, "reading/folders.html", form=form)


@person_post
def new_folder(request: PersonsRequest) -> HttpResponse:
    """Create a folder by the form of the sidebar."""
    form = FolderForm(request.POST, user=request.user)
    if form.is_valid():
        with errors_shown(request, NotPossible):
            following_actions.follows.create_folder(request.user, **form.cleaned_data)
    return _feeds(request, request.COOKIES.get(FEEDS_SHOWN, ""))


@person_post
def show_feeds(request: PersonsRequest) -> HttpResponse:
    """Show only feeds with unread articles in the sidebar, or all; this browser remembers it."""
    shown = "unread" if request.POST.get("show") == "unread" else "all"
    response = _feeds(request, shown)
    response.set_cookie(FEEDS_SHOWN, shown, YEAR, secure=request.is_secure(), httponly=True, samesite="Lax")
    return response


def _feeds(request: PersonsRequest, shown: str) -> HttpResponse:
    if not request.htmx:
        return back(request, "folders")
    return render(request, "partials/_sidebar_feeds.html", {"sidebar": sidebar(request.user), "feeds_shown": shown})


@person_post
def arrange(request: PersonsRequest) -> HttpResponse:
    """Move a folder or a source a step, or to another place. Scripts have already moved it and get 204."""
    try:
        move = read_move(request.POST.get("move", ""))
    except NoMove as problem:
        return HttpResponseBadRequest(str(problem), content_type="text/plain; charset=utf-8")
    try:
        _move(request.user, move)
    except NotPossible as problem:
        if request.htmx:
            return HttpResponse(str(problem), status=409, content_type="text/plain; charset=utf-8")
        messages.error(request, str(problem))
    if request.htmx:
        return HttpResponse(status=204)
    return redirect(f"{reverse('folders')}#{move.kind}-{move.id}-{move.into or move.within or 0}")


def _move(user: User, move: Move) -> None:
    if move.kind == "source" and move.step:
        follows.step_source(user, move.id, within=move.within, step=move.step)
    elif move.kind == "source":
        follows.place_source(user, move.id, out_of=move.within, into=move.into, before=move.before)
    elif move.step:
        follows.step_folder(user, move.id, step=move.step)
    else:
        follows.place_folder(user, move.id, into=move.into, before=move.before)


@login_required
def edit_folder(request: PersonsRequest, folder_id: int) -> HttpResponse:
    folder = _folder(request.user, folder_id)
    initial = {"name": folder.name, "parent": folder.parent_id}
    form = FolderForm(request.POST or None, user=request.user, folder=folder, initial=initial)
    if request.method == "POST" and form.is_valid():
        with errors_in(form, NotPossible):
            following_actions.follows.edit_folder(folder, **form.cleaned_data)
            return redirect("folders")
    return show(request, "reading/folder.html", at=Scope("folder", folder_id), form=form, folder=folder)


@person_post
def delete_folder(request: PersonsRequest, folder_id: int) -> HttpResponse:
    following_actions.follows.delete_folder(_folder(request.user, folder_id))
    return redirect("folders")


def _folder(user: User, folder_id: int) -> Folder:
    return present(following.folder_of(user, folder_id), "You have no such folder.")


def _follow(user: User, source_id: int) -> Follow:
    return present(following.follow_of(user, source_id), "You do not follow such a source.")


@login_required
def import_list(request: PersonsRequest) -> HttpResponse:
    form = OpmlForm(request.POST or None, request.FILES or None)
    report = None
    if request.method == "POST" and form.is_valid():
        try:
            if form.cleaned_data["follow"]:
                report = retrieval.follow_list(request.user, form.cleaned_data["address"], now=now())
            else:
                report = retrieval.import_list(request.user, opml.read(_content(request, form)), now=now())
        except opml.BrokenOpml as problem:
            form.add_error(
                form.given, _("Nothing was imported: the file cannot be read.") + f" {translate_reason(str(problem))}"
            )
        except (NotPossible, NoDocument, BadAddress) as problem:
            form.add_error(form.given, _("Nothing was imported.") + f" {translate_reason(str(problem))}")
    lists = request.user.followed_lists.order_by("url")
    return show(request, "reading/opml.html", form=form, report=report, lists=lists)


@person_post
def leave_list(request: PersonsRequest, list_id: int) -> HttpResponse:
    if not retrieval.leave_list(request.user, list_id):
        raise Http404("You have no such list.")
    messages.success(request, _("The list is no longer checked. Its feeds stay followed."))
    return redirect("opml")


def _content(request: PersonsRequest, form: OpmlForm) -> bytes:
    address = form.cleaned_data["address"]
    if not address:
        content: bytes = form.cleaned_data["file"].read()
        return content
    return fetch_document(request.user, address, now=now())


@person_get
def export_list(request: PersonsRequest) -> HttpResponse:
    return subscription_file(request.user)


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
                return redirect("first_articles")
            form.add_error(None, _("There is nothing on this in these languages yet."))
    return show(request, "reading/welcome.html", page=page, form=form)


def _accepted(request: Request) -> list[str]:
    """The languages of the Accept-Language header, the preferred first."""
    header = request.headers.get("Accept-Language", "")[:500]
    named = [code for code, _weight in parse_accept_lang_header(header) if code != "*"]
    return named or [get_language_from_request(request)]


@person_get
def first_articles(request: PersonsRequest) -> HttpResponse:
    """The news of the newly followed sources; htmx polls until all of them were checked."""
    page = first_articles_page(request.user, now())
    return show(request, "reading/first_articles.html", part="reading/_first_articles.html", page=page)


@person_post
def dismiss_recommendation(request: PersonsRequest, source_id: int) -> HttpResponse:
    if not following.visible_sources(request.user).filter(pk=source_id).exists():
        raise Http404("There is no such source.")
    recommendations.dismiss(request.user, source_id, now=now())
    if request.htmx:
        return HttpResponse()
    messages.success(request, _("It will no longer be recommended to you."))
    return back(request, "catalogue")


@person_get
def feed_health(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/feed_health.html", page=health_page(request.user, request.GET.get("page", "1")))


@person_post
def dismiss_notice(request: PersonsRequest, notice_id: int) -> HttpResponse:
    if not actions.dismiss(request.user, notice_id, now=now()):
        raise Http404("You have no such notice.")
    return back(request, "feed_health")


@person_post
def dismiss_notices(request: PersonsRequest) -> HttpResponse:
    up_to = whole_number(request.POST.get("up_to", ""))
    if up_to is None:
        return HttpResponseBadRequest("The notices are not named.", content_type="text/plain; charset=utf-8")
    actions.dismiss_all(request.user, up_to=up_to, now=now())
    return back(request, "feed_health")


@person_post
def set_mail(request: PersonsRequest) -> HttpResponse:
    wanted = request.POST.get("by_mail") == "yes"
    if wanted and not request.user.email:
        messages.error(request, _("Your account has no email address."))
    else:
        actions.set_mail(request.user, is_wanted=wanted, now=now())
        messages.success(
            request, _("You now also get notices by mail.") if wanted else _("You no longer get notices by mail.")
        )
    return back(request, "feed_health")
