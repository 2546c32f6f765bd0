"""Status codes of the errors that all dialects share."""

from django.http import Http404

from apps.api.formats.parameters import BadRequest
from apps.database.statement_timeout import TookTooLong
from apps.following.actions.errors import NotPossible
from apps.postings.queries import BadCursor
from apps.retrieval.actions import TooOften
from apps.search.algorithms.language import BadQuery
from apps.search.queries import TooCostly
from apps.sources.formats.opml import BrokenOpml

STATUSES: dict[type[Exception], int] = {
    TooOften: 429,  # before NotPossible, its base class
    BadRequest: 400,
    BadQuery: 400,
    BadCursor: 400,
    BrokenOpml: 400,
    NotPossible: 400,
    Http404: 404,
    TooCostly: 503,
    TookTooLong: 503,
}
ERRORS = tuple(STATUSES)


def status_of(error: Exception) -> int:
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))
