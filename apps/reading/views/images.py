"""The proxy for pictures."""

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from apps.accounts.middleware import impersonal
from apps.reading.actions.fetching import Busy
from apps.reading.actions.images import KEPT_FOR, NoPicture, body_of, find
from apps.sources import queries as sources
from apps.web.pages.pictures import BadSignature, address_in

FOR_EVER = "public, max-age=31536000, immutable"

# Proxied content cannot run, load anything, or be embedded by other sites.
HARMLESS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@impersonal
@require_safe
def image(request: HttpRequest, signature: str, encoded: str) -> HttpResponse:
    # Pictures are already compressed: keep the middleware from compressing them.
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    try:
        return _picture(request, address_in(signature, encoded))
    except BadSignature as problem:
        return in_words(str(problem), 404, "no-store")
    except Busy:
        return in_words("Too many pictures are being fetched; try again in a moment.", 503, "no-store")
    except NoPicture as problem:
        return in_words(f"This picture cannot be shown. {problem}", 502, "max-age=600")


@impersonal
@require_safe
def feed_icon(request: HttpRequest, digest: str) -> HttpResponse:
    """The icon of feeds; another icon has another address."""
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    png = sources.icons([digest]).get(digest)
    if png is None:
        return in_words("There is no such icon.", 404, "no-store")
    return kept_harmless(HttpResponse(png, content_type="image/png"), {"Cache-Control": FOR_EVER})


def _picture(request: HttpRequest, address: str) -> HttpResponse:
    found = find(address)
    etag = f'"{found.digest.hex()[:32]}"'
    response = get_conditional_response(request, etag=etag)
    if response is None or response.status_code != 304:
        body = body_of(address, found)
        response = HttpResponse(b"" if request.method == "HEAD" else body, content_type=found.media_type)
        response["Content-Length"] = str(len(body))
    lifetime = int(KEPT_FOR.total_seconds())
    return kept_harmless(response, {"ETag": etag, "Cache-Control": f"public, max-age={lifetime}, immutable"})


def in_words(message: str, status: int, cache_control: str) -> HttpResponse:
    response = HttpResponse(message, content_type="text/plain; charset=utf-8", status=status)
    later = {"Retry-After": "5"} if status == 503 else {}
    return kept_harmless(response, {"Cache-Control": cache_control} | later)


def kept_harmless(response: HttpResponse, headers: dict[str, str]) -> HttpResponse:
    for name, value in (HARMLESS | headers).items():
        response[name] = value
    return response
