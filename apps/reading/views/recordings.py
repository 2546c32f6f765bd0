"""The proxy for audio and video."""

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.accounts.actions import rate_limits
from apps.accounts.middleware import impersonal
from apps.reading.actions.fetching import Busy
from apps.reading.actions.recordings import BadRange, NoRecording, Part, part_of
from apps.reading.views.images import in_words, kept_harmless
from apps.web.pages.pictures import BadSignature, address_in

MAX_PARTS, PARTS_SECONDS = 2_000, 3_600  # for one address: 4 GB an hour
KEPT_SECONDS = 3_600


@impersonal
@require_safe
def recording(request: HttpRequest, signature: str, encoded: str) -> HttpResponse:
    request.META.pop("HTTP_ACCEPT_ENCODING", None)  # compressed already
    try:
        address = address_in(signature, encoded, kind="recording")
    except BadSignature as problem:
        return in_words(str(problem), 404, "no-store")
    who = get_adapter().get_client_ip(request)
    if not rate_limits.is_within("recording", who, most=MAX_PARTS, seconds=PARTS_SECONDS):
        return in_words("Too much is being played from your address; try again later.", 429, "no-store")
    try:
        return _response(part_of(address, request.headers.get("Range") or "bytes=0-"), "Range" in request.headers)
    except BadRange as problem:
        return in_words(str(problem), 416, "no-store")
    except Busy:
        return in_words("Too many recordings are being fetched; try again in a moment.", 503, "no-store")
    except NoRecording as problem:
        return in_words(f"This recording cannot be played here. {problem}", 502, "no-store")


def _response(part: Part, has_range: bool) -> HttpResponse:
    if not has_range and not part.is_whole:
        raise BadRange("Ask for a range of bytes: recordings are sent in parts.")
    response = HttpResponse(part.body, content_type=part.media_type, status=206 if has_range else 200)
    response["Content-Length"] = str(len(part.body))
    if has_range:
        response["Content-Range"] = part.content_range
    return kept_harmless(response, {"Accept-Ranges": "bytes", "Cache-Control": f"private, max-age={KEPT_SECONDS}"})
