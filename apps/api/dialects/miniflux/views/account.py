"""Miniflux' API: who somebody is, lists of feeds, and what is not done by programs here."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now

from apps.accounts.models import User
from apps.api.dialects.miniflux.formats.responses import SPOKEN
from apps.api.dialects.miniflux.views.endpoint import NotThere, body_of, done, refused, resource
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.following.actions import NotPossible
from apps.following.queries import Scope
from apps.retrieval.actions.following import import_list as follow_list
from apps.sources.formats import opml
from apps.summaries.algorithms.reading_time import WORDS_PER_MINUTE


# --- people -----------------------------------------------------------------------------------------------------------
def _me(request: HttpRequest, person: User) -> HttpResponse:
    return JsonResponse(_person_json(person))


def _user(request: HttpRequest, person: User, who: str) -> HttpResponse:
    _require_oneself(person, who)
    return JsonResponse(_person_json(person))


def _mark_all(request: HttpRequest, person: User, who: str) -> HttpResponse:
    _require_oneself(person, who)
    following.mark_all_read(person, Scope("all"), shown_at=now(), now=now())
    return done()


def _require_oneself(person: User, who: str) -> None:
    """Nobody hears of others, not even whether they are there."""
    if who not in (str(person.pk), person.get_username()):
        raise NotThere("There is no such user.")


def _person_json(person: User) -> dict[str, Any]:
    return {
        "id": person.pk,
        "username": person.get_username(),
        "is_admin": False,  # by this door: accounts are looked after on pages
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


_accounts = refused("Accounts are looked after on the portal's pages.")
_keys = refused("App tokens are made and revoked on the account's page.")

me = resource(GET=_me)
users = resource(GET=_accounts, POST=_accounts)
user = resource(GET=_user, PUT=_accounts, DELETE=_accounts)
user_read = resource(PUT=_mark_all)
api_keys = resource(GET=_keys, POST=_keys)
api_key = resource(DELETE=_keys)


# --- lists of feeds ---------------------------------------------------------------------------------------------------
def _export(request: HttpRequest, person: User) -> HttpResponse:
    document = opml.write(following_queries.subscription_list(person), now())
    return HttpResponse(document, content_type="text/xml; charset=utf-8")


def _import(request: HttpRequest, person: User) -> HttpResponse:
    try:
        document = opml.read(body_of(request, opml.MAX_DOCUMENT_BYTES))
    except opml.BrokenOpml as problem:
        raise NotPossible(f"Nothing was imported, for the list cannot be read. {problem}") from problem
    report = follow_list(person, document, now=now())
    words = f"Feeds imported successfully: {len(report.followed):,} new, {report.already_followed:,} known."
    return JsonResponse({"message": words}, status=201)


export_feeds = resource(GET=_export)
import_feeds = resource(POST=_import)


# --- the portal -------------------------------------------------------------------------------------------------------
def _version(request: HttpRequest, person: User) -> HttpResponse:
    unsaid = dict.fromkeys(("build_date", "go_version", "compiler", "arch", "os"), "")
    return JsonResponse({"version": SPOKEN, "commit": f"wirebeat-{settings.VERSION}"} | unsaid)


def _integrations(request: HttpRequest, person: User) -> HttpResponse:
    return JsonResponse({"has_integrations": False})


def _flush_history(request: HttpRequest, person: User) -> HttpResponse:
    """Forget what was read when. The postings stay, and stay read: the portal removes none for one person."""
    following.clear_history(person)
    return done(202)


def _unknown(request: HttpRequest, person: User, rest: str) -> HttpResponse:
    raise NotThere("There is no such address.")


version = resource(GET=_version)
integrations = resource(GET=_integrations)
flush_history = resource(DELETE=_flush_history, PUT=_flush_history)
unknown = resource(GET=_unknown, POST=_unknown, PUT=_unknown, DELETE=_unknown)
