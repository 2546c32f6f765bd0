"""Miniflux' API: the user, lists of feeds, and the portal."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now

from apps.accounts.models import User
from apps.api.dialects.miniflux.formats.responses import API_VERSION
from apps.api.dialects.miniflux.views.endpoint import body_of, done
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.following.actions import NotPossible
from apps.following.queries import Scope
from apps.retrieval.actions.following import import_list
from apps.sources.formats import opml
from apps.summaries.algorithms.reading_time import WORDS_PER_MINUTE


# --- the user ---------------------------------------------------------------------------------------------------------
def mark_all_as_read(request: HttpRequest, person: User, who: str) -> HttpResponse:
    _require_oneself(person, who)
    following.mark_all_read(person, Scope("all"), shown_at=now(), now=now())
    return done()


def _require_oneself(person: User, who: str) -> None:
    """Does not disclose whether another user exists."""
    if who not in (str(person.pk), person.get_username()):
        raise Http404("There is no such user.")


def user(request: HttpRequest, person: User, who: str = "") -> HttpResponse:
    _require_oneself(person, who or str(person.pk))
    values = {
        "id": person.pk,
        "username": person.get_username(),
        "is_admin": False,  # accounts are managed on pages
        "theme": "system_serif",
        "language": person.language or settings.LANGUAGE_CODE,
        "timezone": person.time_zone or settings.TIME_ZONE,
        "entry_sorting_order": "published_at",
        "entry_sorting_direction": "asc" if person.order == User.Order.OLDEST else "desc",
        "entries_per_page": 100,
        "default_reading_speed": WORDS_PER_MINUTE,
        "show_reading_time": True,
        "keyboard_shortcuts": True,
        "mark_read_on_view": True,
        "last_login_at": person.last_login and person.last_login.isoformat(timespec="seconds"),
    }
    return JsonResponse(values)


# --- lists of feeds ---------------------------------------------------------------------------------------------------
def export_feeds(request: HttpRequest, person: User) -> HttpResponse:
    document = opml.write(following_queries.subscription_list(person), now())
    return HttpResponse(document, content_type="text/xml; charset=utf-8")


def import_feeds(request: HttpRequest, person: User) -> HttpResponse:
    try:
        document = opml.read(body_of(request, opml.MAX_DOCUMENT_BYTES))
    except opml.BrokenOpml as problem:
        raise NotPossible(f"Nothing was imported, for the list cannot be read. {problem}") from problem
    report = import_list(person, document, now=now())
    words = f"Feeds imported successfully: {len(report.followed):,} new, {report.already_followed:,} known."
    return JsonResponse({"message": words}, status=201)


# --- the portal -------------------------------------------------------------------------------------------------------
def version(request: HttpRequest, person: User) -> HttpResponse:
    empty = dict.fromkeys(("build_date", "go_version", "compiler", "arch", "os"), "")
    return JsonResponse({"version": API_VERSION, "commit": f"wirebeat-{settings.VERSION}"} | empty)


def integrations(request: HttpRequest, person: User) -> HttpResponse:
    return JsonResponse({"has_integrations": False})


def flush_history(request: HttpRequest, person: User) -> HttpResponse:
    """Clear the history. The postings stay, and stay read: the portal removes none for one user."""
    following.clear_history(person)
    return done(202)
