"""Reads of postings, and the cursor that pages through them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import Count, Q, QuerySet

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_as
from apps.postings.algorithms.dates import effective
from apps.postings.algorithms.times import microseconds, moment_of
from apps.postings.models import Edition, Posting
from apps.sources.models import Source


class BadCursor(ValueError):
    """A text that is not a cursor."""


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A posting's place in a list ordered by time: stays where it is when postings arrive before or after it."""

    published_at: datetime
    id: int

    def encode(self) -> str:
        """
        >>> Cursor(datetime(2024, 2, 29, 12, tzinfo=UTC), 7).encode()
        '1709208000000000.7'
        """
        return f"{microseconds(self.published_at)}.{self.id}"

    @classmethod
    def decode(cls, text: str) -> Self:
        """The inverse of `encode`. Raises BadCursor for an invalid text.

        >>> Cursor.decode("1709208000000000.7").published_at.isoformat()
        '2024-02-29T12:00:00+00:00'
        """
        at, _, number = text.partition(".")
        try:
            if not (number.isascii() and number.isdecimal()) or len(number) > 18 or len(at) > 20:
                raise ValueError(text)
            return cls(moment_of(int(at)), int(number))
        except (ValueError, OverflowError) as error:
            raise BadCursor(f"{text[:50]!r} is not a cursor") from error


def everything() -> QuerySet[Posting]:
    return Posting.objects.all()


_POSTING_FIELDS = [field.attname for field in Posting._meta.concrete_fields]
_SOURCE_FIELDS = [field.attname for field in Source._meta.concrete_fields]
_SOURCE_COLUMNS = [f"source.{name}" for name in _SOURCE_FIELDS]
_COLUMNS = [f"posting.{name}" for name in _POSTING_FIELDS] + [f'{name} AS "{name}"' for name in _SOURCE_COLUMNS]
_WITH_SOURCE = f"""
SELECT {", ".join(_COLUMNS)}
FROM postings_posting posting JOIN sources_source source ON source.id = posting.source_id WHERE posting.id = %s
"""


def with_source(posting_id: int) -> Posting | None:
    """A posting and its source, if there is one of that number. One query."""
    return next(iter(fetch_as(_posting, _WITH_SOURCE, [posting_id], generic=True)), None)


def _posting(**columns: Any) -> Posting:
    posting = Posting.from_db(connection.alias, _POSTING_FIELDS, [columns[name] for name in _POSTING_FIELDS])
    posting.source = Source.from_db(connection.alias, _SOURCE_FIELDS, [columns[name] for name in _SOURCE_COLUMNS])
    return posting


def visible_to(user: User | AnonymousUser) -> QuerySet[Posting]:
    """Postings of listed sources and of those that the person follows."""
    sources = Q(listed=True)
    if user.is_authenticated:
        sources |= Q(follows__user=user)
    return Posting.objects.filter(source__in=Source.objects.filter(sources).order_by().values("pk"))


def of_source(postings: QuerySet[Posting], source_id: int) -> QuerySet[Posting]:
    return postings.filter(source_id=source_id)


def newest(postings: QuerySet[Posting]) -> QuerySet[Posting]:
    return postings.order_by("-published_at", "-id")


def oldest(postings: QuerySet[Posting]) -> QuerySet[Posting]:
    return postings.order_by("published_at", "id")


# Both conditions begin with a plain bound on the indexed time, and only then leave out the ties: written as an "or",
# Postgres would walk the index from its start.
def before(postings: QuerySet[Posting], cursor: Cursor) -> QuerySet[Posting]:
    """Postings that are older than the cursor's."""
    ties = Q(published_at=cursor.published_at, id__gte=cursor.id)
    return postings.filter(~ties, published_at__lte=cursor.published_at)


def after(postings: QuerySet[Posting], cursor: Cursor) -> QuerySet[Posting]:
    """Postings that are newer than the cursor's."""
    ties = Q(published_at=cursor.published_at, id__lte=cursor.id)
    return postings.filter(~ties, published_at__gte=cursor.published_at)


def weekly_counts(source_ids: Collection[int], now: datetime) -> dict[int, int]:
    """The number of postings of the last seven days by source, without sources that have none."""
    fresh = Posting.objects.filter(source__in=source_ids, published_at__gt=now - timedelta(days=7))
    return dict(fresh.order_by().values("source").annotate(amount=Count("pk")).values_list("source", "amount"))


def cursor_of(posting: Posting) -> Cursor:
    return Cursor(posting.published_at, posting.pk)


class Neighbours(NamedTuple):
    """The postings right beside one in the list of its source."""

    newer_id: int | None
    older_id: int | None


_NEIGHBOURS = """
SELECT (
    SELECT id FROM postings_posting WHERE source_id = %(source)s
        AND (published_at, id) > (%(published_at)s::timestamptz, %(id)s) ORDER BY published_at, id LIMIT 1
) AS newer_id, (
    SELECT id FROM postings_posting WHERE source_id = %(source)s
        AND (published_at, id) < (%(published_at)s::timestamptz, %(id)s) ORDER BY published_at DESC, id DESC LIMIT 1
) AS older_id
"""


def neighbours(posting: Posting) -> Neighbours:
    """The next newer and the next older posting of the same source. One query."""
    names = {"source": posting.source_id, "published_at": posting.published_at, "id": posting.pk}
    [neighbours] = fetch_as(Neighbours, _NEIGHBOURS, names, generic=True)
    return neighbours


_EARLIER_EDITIONS = """
SELECT id, posting_id, title, html, text, replaced_at FROM postings_edition WHERE posting_id = %s
ORDER BY replaced_at DESC, id DESC LIMIT 20
"""


def earlier_editions(posting_id: int) -> list[Edition]:
    """How the posting read before, the latest of them first."""
    return fetch_as(Edition, _EARLIER_EDITIONS, [posting_id], generic=True)


def with_documents(source_id: int | None = None) -> QuerySet[Posting]:
    """Postings whose own page was kept: their text can be extracted again."""
    kept = Posting.objects.exclude(document=b"")
    return kept if source_id is None else kept.filter(source_id=source_id)


def trusted_dates(posting_ids: Collection[int]) -> list[tuple[datetime, datetime]]:
    """Times of publication and arrival of those postings whose dates can be trusted."""
    found = Posting.objects.filter(pk__in=posting_ids).only("published_at", "claimed_at", "retrieved_at")
    return [
        (posting.published_at, posting.retrieved_at)
        for posting in found
        if effective(posting.claimed_at, received=posting.retrieved_at, position=0).trusted
    ]


class PostingText(NamedTuple):
    """The text of a posting, for derived data."""

    id: int
    text_hash: bytes
    source_id: int
    published_at: datetime
    language: str  # as its feed declares it, "" if it does not
    title: str
    text: str


_TEXTS = """
SELECT posting.id, text_hash, source_id, published_at,
    coalesce(nullif(posting.language, ''), source.language) AS language, posting.title, text
FROM postings_posting posting JOIN sources_source source ON source.id = source_id WHERE posting.id = ANY(%s)
"""


def texts(posting_ids: Collection[int]) -> dict[int, PostingText]:
    """The texts of those postings that exist. One query."""
    return {text.id: text for text in fetch_as(PostingText, _TEXTS, [list(posting_ids)])}


_SAME = """
SELECT merged.id, kept.id
FROM postings_posting merged JOIN postings_posting kept ON {condition}
WHERE merged.source_id = %s AND kept.source_id = %s ORDER BY merged.id, kept.id
"""
# Equal guids are not enough: many publishers only number their items.
_BY_IDENTITY = """kept.identity = merged.identity
    AND (kept.title = merged.title OR (kept.link_key = merged.link_key AND merged.link_key <> ''))"""
_BY_LINK = "kept.link_key = merged.link_key AND merged.link_key <> ''"


def same_postings(from_id: int, to_id: int) -> list[tuple[int, int]]:
    """Disjoint pairs of postings of two sources with the same identity or page. Two queries."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for condition in (_BY_IDENTITY, _BY_LINK):
        for merged, kept in fetch(_SAME.format(condition=condition), [from_id, to_id]):
            if merged not in pairs and kept not in taken:
                pairs[merged] = kept
                taken.add(kept)
    return list(pairs.items())


_EARLIER_COPIES = """
SELECT posting.id, array_agg(twin.id) AS copies
FROM postings_posting posting JOIN postings_posting twin ON twin.first_copy = posting.first_copy
WHERE posting.id = ANY(%s) AND twin.id < posting.id GROUP BY posting.id
"""


def earlier_copies(posting_ids: Collection[int]) -> dict[int, list[int]]:
    """The copies that came before each of the postings, if there are any. One query."""
    return dict(fetch(_EARLIER_COPIES, [list(posting_ids)]))
