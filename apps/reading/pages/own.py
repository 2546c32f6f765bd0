"""History, notes and shared postings."""

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
    postings = rows_by_id(user, [reading.posting_id for reading in shown])
    read = (
        {"posting": postings[each.posting_id], "read_at": each.read_at} for each in shown if each.posting_id in postings
    )
    last = Cursor(shown[-1].read_at, shown[-1].posting_id).encode() if len(found) > LENGTH else ""
    begun = () if start else _begun(user)
    return {
        "rows": tuple(read),
        "begun": begun,  # unfinished recordings
        "view": view_of(user),
        "next": last,  # cursor of the next page, "" at the end
    }


def _begun(user: User) -> tuple[Context, ...]:
    playbacks = list(following.unfinished(user)[:UNFINISHED])
    postings = rows_by_id(user, [playback.posting_id for playback in playbacks])
    return tuple(
        {"posting": postings[each.posting_id], "playback": each} for each in playbacks if each.posting_id in postings
    )


def notes_page(user: User, words: str, number: str) -> Context:
    """The user's notes, the latest first. Three queries."""
    place = Paginator(following.notes_of(user, words), LENGTH).get_page(number)
    postings = rows_by_id(user, [note.posting_id for note in place])
    return {
        "rows": tuple({"note": note, "posting": postings.get(note.posting_id)} for note in place),
        "words": words,  # filter
        "place": place,
    }


def shares_page(user: User, number: str) -> Context:
    """The user's shared postings, the latest first. Three queries."""
    place = Paginator(following.shares_of(user), LENGTH).get_page(number)
    postings = rows_by_id(user, [share.posting_id for share in place])
    return {
        "rows": tuple({"share": share, "posting": postings.get(share.posting_id)} for share in place),
        "place": place,
    }
