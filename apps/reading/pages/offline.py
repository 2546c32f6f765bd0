"""What a browser keeps of a person's postings, for when there is no network."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Case, CharField, F, QuerySet, Value, When
from django.db.models.functions import Length

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.queries import Scope
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.reading.algorithms.kept_pictures import with_one_address_each
from apps.web.algorithms.pictures import is_on_web, led_through, played_through, replaced
from apps.web.pages.pictures import choice_of, proxied, proxied_recording
from apps.web.pages.rows import PostingRow, rows_by_id

LENGTHS = (0, 50, 100, 200)  # postings that a browser may keep
AT_ONCE = 25  # postings whose text is sent at a time
MAX_HTML_LENGTH = 300_000  # characters; of what is longer the beginning is kept
MAX_KEPT_BYTES = 50 * 2**20  # bytes in a browser, text and pictures together


@dataclass(frozen=True, slots=True)
class KeptState:
    """A posting to keep, and how the person has it now."""

    id: int
    version: str  # changes with its words
    unread: bool
    starred: bool


@dataclass(frozen=True, slots=True)
class KeptPosting:
    """A posting whole, as it is shown without a network."""

    row: PostingRow
    version: str
    author: str
    html: str | None  # None: too long to be kept
    pictures: tuple[str, ...]  # addresses of ours


@dataclass(frozen=True, slots=True)
class DevicePage:
    """What a person can choose for the browser at hand; it fills in itself what it keeps."""

    lengths: tuple[int, ...] = LENGTHS
    most_kept: int = MAX_KEPT_BYTES


def kept_states(user: User, length: int) -> list[KeptState]:
    """The newest postings of the person's river: unread ones first, and as many read ones as find room. Two queries."""
    river = following.postings_in(user, Scope("all"))
    unread = _states(following.unread(river, user), length)
    if len(unread) < length:
        taken = {state.id for state in unread}
        newest = _states(following.with_state(river, user), length)
        unread += [state for state in newest if state.id not in taken][: length - len(unread)]
    return unread


def _states(found: QuerySet[Posting], length: int) -> list[KeptState]:
    newest: Iterable[Any] = postings.newest(found).only("text_hash")[:length]  # with `unread` and `starred`
    return [KeptState(one.pk, _version(one.text_hash), one.unread, one.starred) for one in newest]


def _version(text_hash: bytes | memoryview) -> str:
    return bytes(text_hash).hex()[:16]


def kept_postings(user: User, posting_ids: Collection[int], *, pictures: bool) -> list[KeptPosting]:
    """Those of the postings that the person may read, in no order. Two queries."""
    mine = following.readable_by(user).filter(pk__in=posting_ids)
    shown = rows_by_id(user, posting_ids)
    html = Case(
        When(length__lte=MAX_HTML_LENGTH, then=F("html")), default=Value(None), output_field=CharField(null=True)
    )
    columns = ("pk", "text_hash", "author", "kept", "image_url")
    return [
        _kept_posting(
            user, shown[row.pk], _version(row.text_hash), row.author, row.kept, row.image_url, pictures=pictures
        )
        for row in mine.annotate(length=Length("html"), kept=html).values_list(*columns, named=True)
        if row.pk in shown
    ]


def _kept_posting(
    user: User, row: PostingRow, version: str, author: str, html: str | None, image_url: str, *, pictures: bool
) -> KeptPosting:
    """Pictures come through us even where the person's browser fetches them itself: others' it could not keep."""
    shows = pictures and choice_of(user) != User.Images.BLOCKED
    small = proxied(image_url) if shows and is_on_web(image_url) else ""
    addresses: list[str] = []
    if html is not None:
        html, addresses = with_one_address_each(led_through(html, proxied) if shows else replaced(html))
        html = played_through(html, proxied_recording)
    ours = dict.fromkeys(address for address in [small, *addresses] if address.startswith("/"))
    return KeptPosting(replace(row, image_url=small), version, author, html, tuple(ours))
