"""History, notes and shared postings."""

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings.queries import Cursor
from apps.reading.pages.layouts import view_of
from apps.web.pages import Context
from apps.web.pages.rows import rows_by_id

LENGTH = 40  # postings of a page
UNFINISHED = 5  # recordings to resume


def history_page(user: User, start: Cursor | None) -> Context:
    """The postings that the user read and may still open, the latest first. Four queries."""
    found = list(following.readings_before(user, start)[: LENGTH + 1])
    shown = found[:LENGTH]
    last = Cursor(shown[-1].read_at, shown[-1].posting_id).encode() if len(found) > LENGTH else ""
    begun = () if start else _with_postings(user, "playback", following.unfinished(user)[:UNFINISHED])
    return {
        "rows": _openable(_with_postings(user, "reading", shown)),
        "begun": _openable(begun),  # unfinished recordings
        "view": view_of(user),
        "next": last,  # cursor of the next page, "" at the end
    }


def notes_page(user: User, words: str, number: str) -> Context:
    """The user's notes, the latest first. Three queries."""
    place = Paginator(following.notes_of(user, words), LENGTH).get_page(number)
    return {
        "rows": _with_postings(user, "note", place),
        "words": words,  # filter
        "place": place,
    }


def shares_page(user: User, number: str) -> Context:
    """The user's shared postings, the latest first. Three queries."""
    place = Paginator(following.shares_of(user), LENGTH).get_page(number)
    return {"rows": _with_postings(user, "share", place), "place": place}


def _with_postings(user: User, name: str, found: Iterable[Any]) -> tuple[Context, ...]:
    """Things under a name with their postings, or None where the user may not open it any more."""
    things = list(found)
    postings = rows_by_id(user, [each.posting_id for each in things])
    return tuple({name: each, "posting": postings.get(each.posting_id)} for each in things)


def _openable(rows: Iterable[Context]) -> tuple[Context, ...]:
    return tuple(row for row in rows if row["posting"])
