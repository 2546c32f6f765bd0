"""Pictures, icons, recordings and players of other sites, through the portal."""

from collections.abc import Callable
from functools import wraps
from urllib.parse import urlsplit

from allauth.account.adapter import get_adapter
from csp.constants import NONE, SELF
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from apps.accounts.actions import rate_limits
from apps.accounts.middleware import impersonal
from apps.postings.algorithms.players import player_of
from apps.reading.actions.fetching import Busy
from apps.reading.actions.images import KEPT_FOR, NoPicture, body_of, find
from apps.reading.actions.recordings import BadRange, NoRecording, Part, part_of
from apps.sources import queries as sources
from apps.web.pages.rows import BadSignature, address_in

FOREVER = "public, max-age=31536000, immutable"

# Proxied content cannot run, load anything, or be embedded by other sites.
HARMLESS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}

MAX_PARTS, PARTS_SECONDS = 2_000, 3_600  # for one address: 4 GB an hour
KEPT_SECONDS = 3_600


View = Callable[[HttpRequest, str, str], HttpResponse]


def _of_other_site(view: View) -> View:
    """Answer errors of a view that proxies another site. Its content is compressed already."""

    @impersonal
    @require_safe
    @wraps(view)
    def answer(request: HttpRequest, signature: str, encoded: str) -> HttpResponse:
        request.META.pop("HTTP_ACCEPT_ENCODING", None)  # keeps the middleware from compressing it again
        try:
            return view(request, signature, encoded)
        except BadSignature as problem:
            return in_words(str(problem), 404)
        except BadRange as problem:
            return in_words(str(problem), 416)
        except Busy:
            return in_words("Too much is being fetched; try again in a moment.", 503)
        except NoPicture as problem:
            return in_words(f"This picture cannot be shown. {problem}", 502, "max-age=600")
        except NoRecording as problem:
            return in_words(f"This recording cannot be played here. {problem}", 502)

    return answer


@_of_other_site
def image(request: HttpRequest, signature: str, encoded: str) -> HttpResponse:
    address = address_in(signature, encoded)
    found = find(address)
    etag = f'"{found.digest.hex()[:32]}"'
    response = get_conditional_response(request, etag=etag)
    if response is None or response.status_code != 304:
        body = body_of(address, found)
        response = HttpResponse(b"" if request.method == "HEAD" else body, content_type=found.media_type)
        response["Content-Length"] = str(len(body))
    lifetime = int(KEPT_FOR.total_seconds())
    return kept_harmless(response, {"ETag": etag, "Cache-Control": f"public, max-age={lifetime}, immutable"})


@impersonal
@require_safe
def feed_icon(request: HttpRequest, digest: str) -> HttpResponse:
    """The icon of feeds; another icon has another address."""
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    png = sources.icons([digest]).get(digest)
    if png is None:
        return in_words("There is no such icon.", 404)
    return kept_harmless(HttpResponse(png, content_type="image/png"), {"Cache-Control": FOREVER})


def in_words(message: str, status: int, cache_control: str = "no-store") -> HttpResponse:
    response = HttpResponse(message, content_type="text/plain; charset=utf-8", status=status)
    later = {"Retry-After": "5"} if status == 503 else {}
    return kept_harmless(response, {"Cache-Control": cache_control} | later)


def kept_harmless(response: HttpResponse, headers: dict[str, str]) -> HttpResponse:
    for name, value in (HARMLESS | headers).items():
        response[name] = value
    return response


@_of_other_site
def recording(request: HttpRequest, signature: str, encoded: str) -> HttpResponse:
    address = address_in(signature, encoded, kind="recording")
    who = get_adapter().get_client_ip(request)
    if not rate_limits.is_within("recording", who, most=MAX_PARTS, seconds=PARTS_SECONDS):
        return in_words("Too much is being played from your address; try again later.", 429)
    return _response(part_of(address, request.headers.get("Range") or "bytes=0-"), "Range" in request.headers)


def _response(part: Part, has_range: bool) -> HttpResponse:
    if not has_range and not part.is_whole:
        raise BadRange("Request a range of bytes: recordings are sent in parts.")
    response = HttpResponse(part.body, content_type=part.media_type, status=206 if has_range else 200)
    response["Content-Length"] = str(len(part.body))
    if has_range:
        response["Content-Range"] = part.content_range
    return kept_harmless(response, {"Accept-Ranges": "bytes", "Cache-Control": f"private, max-age={KEPT_SECONDS}"})


@impersonal
@require_safe
@xframe_options_sameorigin
def player(request: HttpRequest, signature: str, encoded: str) -> HttpResponse:
    try:
        found = player_of(address_in(signature, encoded, kind="player"))
    except BadSignature as problem:
        raise Http404(str(problem)) from problem
    if found is None:  # no longer known
        raise Http404("No player is known for this address.")
    response = render(request, "reading/player.html", {"player": found})
    site = urlsplit(found.frame)
    response._csp_config = {  # type: ignore[attr-defined]
        "default-src": [NONE],
        "style-src": [SELF],
        "frame-src": [f"{site.scheme}://{site.netloc}"],
        "frame-ancestors": [SELF],
    }
    return response
