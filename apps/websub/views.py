"""The callback that hubs call to verify a subscription and to deliver updates."""

from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.websub import actions, queries

BODY_LIMIT = 5 * 2**20  # bytes


@csrf_exempt
@require_http_methods(["GET", "POST"])
def callback(request: HttpRequest, token: str) -> HttpResponse:
    if "\0" in token or any("\0" in value for value in request.GET.values()):  # which Postgres does not store
        return _plain("There is no such subscription.", 404)
    return _receive(request, token) if request.method == "POST" else _verify(request, token)


def _verify(request: HttpRequest, token: str) -> HttpResponse:
    query = request.GET
    mode, topic, challenge = query.get("hub.mode", ""), query.get("hub.topic", ""), query.get("hub.challenge", "")
    if mode == "denied":
        known = actions.deny(token, topic=topic, reason=query.get("hub.reason", ""), now=now())
        return _plain("", 200 if known else 404)
    if mode:
        seconds = query.get("hub.lease_seconds", "")
        echo = actions.confirm(token, mode=mode, topic=topic, challenge=challenge, lease_seconds=seconds, now=now())
    else:
        echo = actions.confirm_cloud(token, url=query.get("url", ""), challenge=query.get("challenge", ""))
    return _plain("There is no such subscription.", 404) if echo is None else _plain(echo, 200)


def _receive(request: HttpRequest, token: str) -> HttpResponse:
    subscription = queries.subscription_at(token)
    if subscription is None:
        return _plain("There is no such subscription.", 404)
    if subscription.state in queries.CLOSED:
        return _plain("This subscription has ended.", 410)
    body = _body_of(request)
    if body is None:
        return _plain(f"At most {BODY_LIMIT:,} bytes are accepted.", 413)
    delivery = actions.receive(
        subscription.pk,
        body,
        content_type=request.headers.get("Content-Type", ""),
        content_encoding=request.headers.get("Content-Encoding", ""),
        signature=request.headers.get("X-Hub-Signature", ""),
        now=now(),
    )
    if delivery is None:
        response = _plain("Too many deliveries.", 429)
        response["Retry-After"] = "60"
        return response
    return _plain("", 200)


def _body_of(request: HttpRequest) -> bytes | None:
    """The raw body, or None if it is too large; nothing beyond the limit is read."""
    length = request.headers.get("Content-Length", "")
    if length.isdecimal() and int(length) > BODY_LIMIT:
        return None
    # Django reads a body without Content-Length as empty; servers that know where it ends set this flag.
    is_chunked = not length and request.META.get("wsgi.input_terminated")
    body: bytes = (request.META["wsgi.input"] if is_chunked else request).read(BODY_LIMIT + 1)
    return body if len(body) <= BODY_LIMIT else None


def _plain(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
