"""Authentication, parameters and errors of Google Reader's API."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, wraps
from hashlib import sha256
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.formats.parameters import BadRequest
from apps.api.views.access import Refused, person_by, person_of
from apps.api.views.errors import ERRORS, status_of
from apps.following.queries.listing import Arrival
from extensions.dialects.google_reader.formats.forms import Fields, read_moment
from extensions.dialects.google_reader.formats.ids import read_item_id
from extensions.dialects.google_reader.formats.streams import BadStream, Stream, read_stream

MAX_STREAMS = 1_000  # per request
MAX_IDS = 10_000  # items per request


@dataclass(frozen=True)
class Call:
    """A request of a client, with the user of its token."""

    request: HttpRequest
    person: User

    @cached_property
    def fields(self) -> Fields:
        return fields_of(self.request)

    def stream(self, text: str) -> Stream:
        """Raises BadStream if it is invalid, or another user's."""
        return read_stream(text, (str(self.person.pk), self.person.get_username()))

    def streams(self, name: str) -> tuple[Stream, ...]:
        texts = list(filter(None, map(str.strip, self.fields.all(name))))
        if len(texts) > MAX_STREAMS:
            raise BadRequest(f"At most {MAX_STREAMS:,} streams can be named as {name}.")
        return tuple(dict.fromkeys(map(self.stream, texts)))

    def item_ids(self) -> list[int]:
        texts = self.fields.all("i")
        if len(texts) > MAX_IDS:
            raise BadRequest(f"At most {MAX_IDS:,} items can be named at once.")
        return list(dict.fromkeys(map(read_item_id, texts)))

    def arrival(self) -> Arrival | None:
        """The interval from `ot` to `nt` in which items arrived; 0 means no limit.

        By retrieval and not by publication, as in Google Reader and FreshRSS: a client that requests all items since
        its last sync would otherwise miss late ones.
        """
        bounds = {
            side: read_moment(text, last=side == "until")
            for side, name in (("since", "ot"), ("until", "nt"))
            if (text := self.fields.one(name)).strip("0")
        }
        return Arrival(**bounds) if bounds else None


def endpoint(
    scope: str = AppToken.Scope.READ, methods: Collection[str] = ("GET", "HEAD", "POST")
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Make a view of a function of a call. Only tokens are accepted, never a session."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @impersonal
        @csrf_exempt
        @require_http_methods(list(methods))
        @wraps(view)
        def answer(request: HttpRequest, **places: str) -> HttpResponseBase:
            try:
                person = _person(request, scope)
                response = view(Call(request, person), **places)
            except Refused as refused:
                response = text_response(str(refused), refused.status)
                response["Google-Bad-Token"] = "true"
            except BadStream as error:
                response = text_response(str(error), 404)
            except RequestDataTooBig:
                response = text_response("The body is too large.", 413)
            except ERRORS as error:
                response = text_response(str(error), status_of(error))
            response["Cache-Control"] = "private, no-cache"
            return response

        return answer

    return decorate


def _person(request: HttpRequest, scope: str) -> User:
    """Liferea requests items without a header: the T of the form is what `client_login` has returned."""
    if request.method == "POST" and "Authorization" not in request.headers:
        name, _slash, secret = Fields(request.body.decode(errors="replace")).one("T").rpartition("/")
        if name:
            return person_by(request, secret, scope, name=name, now=now())
    return person_of(request, scope, now=now())


def own(read: Callable[[User], dict[str, Any]]) -> Callable[..., HttpResponseBase]:
    """An endpoint that returns what a function reads of the user."""

    @endpoint()
    @wraps(read)
    def answer(call: Call) -> HttpResponse:
        return respond(read(call.person))

    return answer


def changing(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """An endpoint that requires a token for changes."""
    return endpoint(AppToken.Scope.WRITE, ("POST",))(view)


def fields_of(request: HttpRequest) -> Fields:
    """From body and query: clients use either."""
    is_form = request.content_type == "multipart/form-data"
    body = request.POST.urlencode() if is_form else request.body.decode(errors="replace")
    return Fields(body, request.META.get("QUERY_STRING", ""))


def text_response(text: str, status: int = 200) -> HttpResponse:
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain; charset=utf-8")


def done() -> HttpResponse:
    """Without a line break, which some clients take for a failure."""
    return HttpResponse("OK", content_type="text/plain; charset=utf-8")


def respond(data: dict[str, object]) -> HttpResponse:
    return JsonResponse(data, json_dumps_params={"ensure_ascii": False, "separators": (",", ":")})


# --- signing in -------------------------------------------------------------------------------------------------------
TOKEN_LENGTH = 57  # characters: some clients count them


@impersonal
@csrf_exempt
@require_http_methods(["POST"])
def client_login(request: HttpRequest) -> HttpResponse:
    """Expects `Email`, and an app token as `Passwd`, which the response contains again.

    A token in the query is refused, because addresses are logged.
    """
    if "Passwd" in request.GET:
        return text_response("Send Passwd in the body of the request.", 400)
    try:
        fields = fields_of(request)
        secret = fields.one("Passwd")
        person = person_by(request, secret, name=fields.one("Email"), now=now())
    except Refused as refused:
        return text_response("Error=BadAuthentication", refused.status)
    except BadRequest as error:
        return text_response(str(error), 400)
    auth = f"{person.get_username()}/{secret}"
    response: HttpResponse
    if fields.one("output") == "json":
        response = JsonResponse({"SID": auth, "LSID": "null", "Auth": auth})
    else:
        response = text_response(f"SID={auth}\nLSID=null\nAuth={auth}")
    response["Cache-Control"] = "no-store"
    return response


@endpoint()
def token(call: Call) -> HttpResponse:
    """The CSRF token that clients return as T. It is not checked: requests are authenticated by a header, which
    browsers never send by themselves.
    """
    return text_response(sha256(f"T of {call.person.pk}".encode()).hexdigest()[:TOKEN_LENGTH])


@endpoint()
def greet(call: Call) -> HttpResponse:
    return done()
