"""The portal as an installed web app with offline reading.

The service worker (static/js/worker.js) fetches what it stores, and sends marks made without a network.
"""

import json
from collections.abc import Callable
from functools import wraps
from hashlib import sha256

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import condition, require_POST, require_safe

from apps.accounts.middleware import impersonal
from apps.accounts.views.requests import person_get
from apps.following.actions.marks import apply_changes
from apps.following.algorithms.merging import by_our_clock
from apps.following.formats.offline import MAX_CHANGES, BadMessage, parse
from apps.reading.pages.following import AT_ONCE, LENGTHS, MAX_KEPT_BYTES, kept_postings, kept_states
from apps.stories import actions as stories_actions
from apps.web.algorithms.numbers import whole_number
from apps.web.pages import Context
from apps.web.pages.offline_shell import person_key, shell
from apps.web.templatetags.rows import drawn_row
from apps.web.views.rendering import PersonsRequest, show

PAPER = "#faf9f6"  # static/css/base.css


# --- public -----------------------------------------------------------------------------------------------------------
@impersonal
@require_safe
@cache_control(max_age=3600)
def manifest(request: HttpRequest) -> HttpResponse:
    """The web app manifest."""

    def place(name: str, address: str) -> dict[str, object]:
        return {"name": name, "url": reverse(address)}

    def picture(name: str, size: int, purpose: str) -> dict[str, str]:
        return {"src": static(f"icons/{name}.png"), "type": "image/png", "sizes": f"{size}x{size}", "purpose": purpose}

    content = {
        "id": reverse("river"),
        "name": "Wirebeat",
        "short_name": "Wirebeat",
        "description": _("Articles of the feeds that you follow."),
        "start_url": reverse("river"),
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": PAPER,  # pages have that of the dark theme
        "share_target": {
            "action": reverse("save_page"),
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
        "icons": [
            {"src": static("icon.svg"), "type": "image/svg+xml", "sizes": "any", "purpose": "any"},
            *(picture(f"icon-{size}", size, "any") for size in (192, 512)),
            *(picture(f"maskable-{size}", size, "maskable") for size in (192, 512)),
        ],
        "shortcuts": [
            place(_("All articles"), "river"),
            place(_("Search"), "search"),
            place(_("Starred"), "river_starred"),
        ],
    }
    return JsonResponse(content, content_type="application/manifest+json", json_dumps_params={"ensure_ascii": False})


def _script() -> str:
    known = shell()
    constants = {
        "version": known.version,
        "digests": dict(known.digests),
        "static": static(""),
        "shell": reverse("offline_shell"),
        "list": reverse("offline_list"),
        "articles": reverse("offline_articles"),
        "changes": reverse("offline_changes"),
        "river": reverse("river"),
        "posting": reverse("posting", args=[0]).partition("0")[0],
        "pictures": reverse("image", args=["_", "_"]).partition("_")[0],
        "signOut": reverse("account_logout"),
        "atOnce": AT_ONCE,
        "mostChanges": MAX_CHANGES,
        "mostKept": MAX_KEPT_BYTES,
    }
    return f"const portal = {json.dumps(constants, indent=1)};\n{known.worker}"


@impersonal
@require_safe
@condition(etag_func=lambda request: f'"{sha256(_script().encode()).hexdigest()[:32]}"')
def worker(request: HttpRequest) -> HttpResponse:
    """The service worker's script; at the top level, since its scope is the path of its address."""
    return HttpResponse(_script(), content_type="text/javascript; charset=utf-8", headers={"Cache-Control": "no-cache"})


@impersonal
@require_safe
@never_cache
def frame(request: HttpRequest) -> HttpResponse:
    """The page that shows stored articles; stored itself, so it contains nothing personal."""
    request.user = AnonymousUser()
    return show(request, "reading/offline_shell.html", version=shell().version)


# --- stored by a user's browser ---------------------------------------------------------------------------------------
def _for_persons(view: Callable[[PersonsRequest], HttpResponse]) -> Callable[[PersonsRequest], HttpResponse]:
    """Answer visitors with 401: the script cannot use a redirect to the sign-in page."""

    @wraps(view)
    def guarded(request: PersonsRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            return _problem(_("You are not signed in."), 401)
        return view(request)

    return never_cache(guarded)


def _problem(words: str, status: int) -> JsonResponse:
    return JsonResponse({"error": words}, status=status)


@require_safe
@_for_persons
def states(request: PersonsRequest) -> HttpResponse:
    """Which postings to store, how they are marked, and a token to send marks with."""
    length = whole_number(request.GET.get("n", ""))
    if length is None or length > max(LENGTHS):
        return _problem(_("Give the number in “n”, at most %(most)s.") % {"most": max(LENGTHS)}, 400)
    found = kept_states(request.user, length) if length else []
    return JsonResponse(
        {
            "person": person_key(request.user),
            "token": get_token(request),
            "version": shell().version,
            "articles": found,
        }
    )


@require_safe
@_for_persons
def articles(request: PersonsRequest) -> HttpResponse:
    """Whole postings as parts of pages."""
    ids = [whole_number(word) for word in request.GET.get("ids", "").split(",")]
    wanted = [id for id in ids if id is not None]
    if len(wanted) != len(ids) or len(ids) > AT_ONCE:
        return _problem(_("Give the articles in “ids”, at most %(most)s.") % {"most": AT_ONCE}, 400)
    kept = kept_postings(request.user, wanted, pictures=request.GET.get("pictures") == "yes")
    return JsonResponse(
        {
            "person": person_key(request.user),
            "version": shell().version,
            "articles": [_pieces(request, one) for one in kept],
        }
    )


def _pieces(request: PersonsRequest, kept: Context) -> dict[str, object]:
    # Without the request: its CSRF token must not be stored.
    at, row = now(), kept["row"]
    context = {"user": request.user, "now": at, "posting": row, "kept": kept}
    return {
        "id": row.id,
        "version": kept["version"],
        "title": row.title,
        "publishedAt": row.published_at.isoformat(),
        "unread": row.unread,
        "starred": row.starred,
        "row": drawn_row(row, now=at, is_signed_in=True),
        "page": render_to_string("reading/offline_article.html", context),
        "pictures": kept["pictures"],
    }


@require_POST
@_for_persons
def changes(request: PersonsRequest) -> HttpResponse:
    """Apply marks made without a network: each once, and none over a later change."""
    try:
        message = parse(request.body)
    except BadMessage as error:
        return _problem(str(error), 400)
    if message.person != person_key(request.user):
        return _problem(_("These changes belong to another account."), 409)
    at = now()
    changes = [change.at(by_our_clock(change.made_at, sent_at=message.sent_at, now=at)) for change in message.changes]
    outcomes = apply_changes(request.user, changes, now=at)
    starred = {each.posting_id for each in changes if each.field == "starred" and outcomes[each.id] == "applied"}
    stories_actions.learning.note_all_starred(request.user, starred, now=at)
    applied = {str(id): outcome for id, outcome in outcomes.items()}
    return JsonResponse({"outcomes": applied | dict.fromkeys(message.refused, "refused")})


@person_get
def device(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/offline_device.html", lengths=LENGTHS, max_kept_bytes=MAX_KEPT_BYTES)
