"""How every request of a client of Google Reader is let in, read and refused."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, wraps

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.dialects.google_reader.formats.forms import BadField, Fields, read_moment
from apps.api.dialects.google_reader.formats.ids import BadItemId, read_item_id
from apps.api.dialects.google_reader.formats.streams import BadStream, Stream, read_stream
from apps.api.views.access import Refused, person_of
from apps.following.actions import NotPossible
from apps.following.queries.listing import Arrival
from apps.postings.queries import BadCursor
from apps.retrieval.actions import TooOften
from apps.sources.formats.opml import BrokenOpml

MAX_STREAMS = 1_000  # of one request
MAX_IDS = 10_000  # items of one request
_SAID = (BadField, BadItemId, BadCursor, BrokenOpml, NotPossible)


@dataclass(frozen=True)
class Call:
    """What a client asks, for the person whose token it brings."""

    request: HttpRequest
    person: User

    @cached_property
    def fields(self) -> Fields:
        return fields_of(self.request)

    def stream(self, text: str) -> Stream:
        """Raises BadStream if it is none, or another person's."""
        return read_stream(text, (str(self.person.pk), self.person.get_username()))

    def streams(self, name: str) -> tuple[Stream, ...]:
        texts = list(filter(None, map(str.strip, self.fields.all(name))))
        if len(texts) > MAX_STREAMS:
            raise BadField(f"At most {MAX_STREAMS:,} streams can be named as {name}.")
        return tuple(dict.fromkeys(map(self.stream, texts)))

    def item_ids(self) -> list[int]:
        texts = self.fields.all("i")
        if len(texts) > MAX_IDS:
            raise BadField(f"At most {MAX_IDS:,} items can be named at once.")
        return list(dict.fromkeys(map(read_item_id, texts)))

    def arrival(self) -> Arrival | None:
        """When items shall have reached us: `ot` and `nt`, of which clients say 0 for none.

        By the time of retrieval and not by that of publication, as Google Reader and FreshRSS have it: a client that
        asks for what came since its last look would never hear of a posting that a source shows late.
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
    """Make a view of a function that gets a call. Only tokens open it, never a session's cookie."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @impersonal
        @csrf_exempt
        @require_http_methods(list(methods))
        @wraps(view)
        def answer(request: HttpRequest, **places: str) -> HttpResponseBase:
            try:
                person = person_of(request, scope, now=now())
                response = view(Call(request, person), **places)
            except Refused as refused:
                response = said(str(refused), refused.status)
                response["Google-Bad-Token"] = "true"
            except BadStream as error:
                response = said(str(error), 404)
            except TooOften as error:
                response = said(str(error), 429)
            except _SAID as error:
                response = said(str(error), 400)
            except RequestDataTooBig:
                response = said("The body is too large.", 413)
            response["Cache-Control"] = "private, no-cache"
            return response

        return answer

    return decorate


def changing(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A door that needs a token which allows changes."""
    return endpoint(AppToken.Scope.WRITE, ("POST",))(view)


def fields_of(request: HttpRequest) -> Fields:
    """From the body and the address: clients put what they say in either."""
    is_form = request.content_type == "multipart/form-data"
    body = request.POST.urlencode() if is_form else request.body.decode(errors="replace")
    return Fields(body, request.META.get("QUERY_STRING", ""))


def said(text: str, status: int = 200) -> HttpResponse:
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain; charset=utf-8")


def done() -> HttpResponse:
    """Exactly these letters: clients take a line behind them for a failure."""
    return HttpResponse("OK", content_type="text/plain; charset=utf-8")


def respond(data: dict[str, object]) -> HttpResponse:
    return JsonResponse(data, json_dumps_params={"ensure_ascii": False, "separators": (",", ":")})
