"""History, notes, tags and shared postings."""

from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page, Paginator

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Note, Playback, Share, Tag
from apps.postings.queries import Cursor
from apps.reading.pages.layouts import view_of
from apps.web.pages.rows import PostingRow, rows_by_id

LENGTH = 40  # postings of a page
UNFINISHED = 5  # recordings to resume


# --- history ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Read:
    posting: PostingRow
    read_at: datetime


@dataclass(frozen=True, slots=True)
class Begun:
    posting: PostingRow
    playback: Playback


@dataclass(frozen=True, slots=True)
class HistoryPage:
    rows: tuple[Read, ...]
    begun: tuple[Begun, ...]  # unfinished recordings
    view: User.View
    next: str  # cursor of the next page, "" at the end
    now: datetime


def history_page(user: User, start: Cursor | None, now: datetime) -> HistoryPage:
    """The postings that the user read and may still open, the latest first. Four queries."""
    found = following.readings_before(user, start)[: LENGTH + 1]
    shown = list(found)
    more = len(shown) > LENGTH
    shown = shown[:LENGTH]
    postings = rows_by_id(user, [reading.posting_id for reading in shown])
    read = (Read(postings[each.posting_id], each.read_at) for each in shown if each.posting_id in postings)
    last = Cursor(shown[-1].read_at, shown[-1].posting_id).encode() if more else ""
    begun = () if start else _begun(user)
    return HistoryPage(tuple(read), begun, view_of(user), last, now)


def _begun(user: User) -> tuple[Begun, ...]:
    playbacks = list(following.unfinished(user)[:UNFINISHED])
    postings = rows_by_id(user, [playback.posting_id for playback in playbacks])
    return tuple(Begun(postings[each.posting_id], each) for each in playbacks if each.posting_id in postings)


# --- notes ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Noted:
    note: Note
    posting: PostingRow | None  # None if the user may no longer open it


@dataclass(frozen=True, slots=True)
class NotesPage:
    rows: tuple[Noted, ...]
    words: str  # filter
    place: Page[Note]
    now: datetime


def notes_page(user: User, words: str, number: str, now: datetime) -> NotesPage:
    """The user's notes, the latest first. Three queries."""
    place = Paginator(following.notes_of(user, words), LENGTH).get_page(number)
    postings = rows_by_id(user, [note.posting_id for note in place])
    return NotesPage(tuple(Noted(note, postings.get(note.posting_id)) for note in place), words, place, now)


# --- tags -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TagsPage:
    tags: tuple[Tag, ...]  # by name, with their `amount` of postings


def tags_page(user: User) -> TagsPage:
    return TagsPage(tuple(following.counted_tags(user)))


# --- shared postings --------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Shared:
    share: Share
    posting: PostingRow | None


@dataclass(frozen=True, slots=True)
class SharesPage:
    rows: tuple[Shared, ...]
    place: Page[Share]
    now: datetime


def shares_page(user: User, number: str, now: datetime) -> SharesPage:
    """The user's shared postings, the latest first. Three queries."""
    place = Paginator(following.shares_of(user), LENGTH).get_page(number)
    postings = rows_by_id(user, [share.posting_id for share in place])
    return SharesPage(tuple(Shared(share, postings.get(share.posting_id)) for share in place), place, now)
