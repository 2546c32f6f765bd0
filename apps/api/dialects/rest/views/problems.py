"""Errors as `application/problem+json` (RFC 9457)."""

import json
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import BaseModel, Field

from apps.accounts import actions as accounts
from apps.api.views.access import Refused
from apps.database.statement_timeout import TookTooLong
from apps.following import actions as following
from apps.postings.queries import BadCursor
from apps.retrieval.actions.adding import WITHIN, TooOften
from apps.search.actions.saved import NotSaved
from apps.search.algorithms.language import BadQuery
from apps.search.queries import TooCostly

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 60
MAX_ERRORS, MAX_PART_LENGTH = 100, 50  # per problem; characters of a part of a place


class Wrong(BaseModel):
    """An error in a request."""

    place: str = Field(description="Such as `query.limit` or `body.posting_ids.3`.")
    message: str
    at: Annotated[int | None, Field(description="Characters of a query before the invalid part.")] = None
    piece: Annotated[str | None, Field(description="The invalid part.")] = None


class Choice(BaseModel):
    """A feed that a page names."""

    url: str
    title: str


class Problem(BaseModel):
    type: Annotated[str, Field(description="The status defines the kind of problem.")] = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[Wrong] = []
    choices: Annotated[list[Choice], Field(description="Feeds, one of which can be followed by its address.")] = []


class Impossible(Exception):
    """A request cannot be executed; the message says why."""

    def __init__(self, words: str, status: int, *, choices: Sequence[Choice] = (), retry_after: int = 0) -> None:
        super().__init__(words)
        self.status = status
        self.choices = choices
        self.retry_after = retry_after


def problem_response(
    detail: str, status: int, *, errors: Sequence[Wrong] = (), choices: Sequence[Choice] = ()
) -> HttpResponse:
    """The response for a problem."""
    problem = Problem(
        title=HTTPStatus(status).phrase, status=status, detail=detail, errors=list(errors), choices=list(choices)
    )
    response = HttpResponse(json.dumps(problem.model_dump(exclude_none=True)), status=status, content_type=MEDIA_TYPE)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="Wirebeat"'
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def add_handlers(api: NinjaAPI) -> None:
    """Register a handler for each exception of the views."""
    handlers: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
        Http404: lambda request, error: problem_response(str(error) or "There is nothing here.", 404),
        Refused: lambda request, error: problem_response(str(error), error.status),
        AuthenticationError: lambda request, error: problem_response("An app token is needed.", 401),
        HttpError: lambda request, error: problem_response(str(error), error.status_code),
        ValidationError: _of_values,
        Impossible: _of_impossible,
        TooOften: lambda request, error: _of_impossible(request, Impossible(str(error), 429, retry_after=WITHIN)),
        following.errors.NotPossible: lambda request, error: problem_response(str(error), 409),
        accounts.NotPossible: lambda request, error: problem_response(str(error), 409),
        NotSaved: lambda request, error: problem_response(str(error), 409),
        BadCursor: _of_cursor,
        BadQuery: _of_query,
        TooCostly: lambda request, error: problem_response(str(error), 422),
        TookTooLong: lambda request, error: problem_response("This takes too long: ask for less at once.", 422),
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)


def _of_impossible(request: HttpRequest, error: Impossible) -> HttpResponse:
    response = problem_response(str(error), error.status, choices=error.choices)
    if error.retry_after:
        response["Retry-After"] = str(error.retry_after)
    return response


def _of_values(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [Wrong(place=_place(each["loc"]), message=each["msg"]) for each in error.errors[:MAX_ERRORS]]
    return problem_response("Some values of the request are invalid.", 422, errors=errors)


def _place(parts: Sequence[str | int]) -> str:
    """Without the names of parameters in our views.

    >>> _place(("body", "data", "posting_ids", 3)), _place(("path", "source_id"))
    ('body.posting_ids.3', 'path.source_id')
    """
    source, *rest = parts
    return ".".join(str(part)[:MAX_PART_LENGTH] for part in [source, *rest[rest[:1] in (["data"], ["params"]) :]])


def _of_cursor(request: HttpRequest, error: BadCursor) -> HttpResponse:
    return problem_response(
        "The cursor does not belong to this list.", 400, errors=[Wrong(place="query.cursor", message=str(error))]
    )


def _of_query(request: HttpRequest, error: BadQuery) -> HttpResponse:
    place = "query.q" if request.method in {"GET", "HEAD"} else "body.query"
    wrong = Wrong(place=place, message=str(error), at=error.at, piece=error.piece)
    return problem_response("The query cannot be read.", 400, errors=[wrong])
