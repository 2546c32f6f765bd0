"""Folding postings of one article, whichever feeds they came by."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import NamedTuple

from django.db import transaction

from apps.database.statements import copy_rows, execute, fetch_rows
from apps.postings.algorithms.duplicates import Article, Known, first_copies, restored
from apps.postings.models import Fingerprint

WITHIN = timedelta(hours=48)  # between an article and its copies; a later one is a regular column
KEPT = timedelta(days=4)
HOLDERS = 8  # postings near in time by which a band finds copies: those from one template can be thousands


class Dated(NamedTuple):
    """An article and when it was published."""

    article: Article
    at: datetime


class Folded(NamedTuple):
    """An article with the key that it shares with its copies, and the bands by which later copies find it."""

    dated: Dated
    key: int
    bands: list[int]


# Hide the array from the planner: it expects most postings to have one of a hundred bands, and would read all.
CANDIDATES = """
SELECT known.bands, known.values, known.words, known.published_at, posting.fold_key
FROM postings_fingerprint known JOIN postings_posting posting ON posting.id = known.posting_id
WHERE known.bands && ARRAY(SELECT unnest(%s::bigint[])) AND known.posting_id IS DISTINCT FROM %s
    AND posting.fold_key <> 0
ORDER BY known.posting_id
"""


def fold(articles: Sequence[Dated], *, but: int | None = None) -> list[Folded]:
    """Give each article a key, the same for copies; `but` is a posting that is no copy of itself. One query.

    A band that enough postings have is that of a template, and copies share other ones, too: further postings are not
    found by it. Concurrent transactions do not see each other's postings: they agree on equal words, and on an equal
    page where there are no words, since keys are computed from these.
    """
    bands_of = [article.bands for article, _ in articles]
    known: list[tuple[Dated, int]] = []  # with keys
    by_band: defaultdict[int, list[int]] = defaultdict(list)  # places in `known`
    if wanted := set().union(*bands_of):
        for row in fetch_rows(CANDIDATES, [sorted(wanted), but]):
            for band in wanted.intersection(row.bands):
                by_band[band].append(len(known))
            known.append((Dated(restored(row.values, row.words), row.published_at), row.fold_key))
    folded = []
    for dated, bands in zip(articles, bands_of, strict=True):
        near = {band: [n for n in by_band[band] if abs(known[n][0].at - dated.at) <= WITHIN] for band in bands}
        copy = next(_copies(dated.article, near, known), None)
        key = dated.article.fold_key if copy is None else known[copy][1]
        free = [band for band, held in near.items() if len(held) < HOLDERS]
        for band in free:
            by_band[band].append(len(known))
        known.append((dated, key))
        folded.append(Folded(dated, key, free))
    return folded


def _copies(article: Article, near: Mapping[int, list[int]], known: Sequence[tuple[Dated, int]]) -> Iterator[int]:
    """Places of the copies of an article in `known`, given those that share a band."""
    yield from near.get(article.page, ())
    for n in dict.fromkeys(chain.from_iterable(near.values())):
        if article.is_copy_of(known[n][0].article):
            yield n


_COPY = "COPY postings_fingerprint (posting_id, published_at, bands, values, words) FROM STDIN (FORMAT BINARY)"


def remember(articles: Iterable[tuple[int, Folded]]) -> None:
    """Index new postings, given by id, so that their copies are found."""
    rows = (
        (id, at, bands, article.values.astype("<u4").tobytes(), article.words)
        for id, ((article, at), key, bands) in articles
        if key
    )
    copy_rows(_COPY, ["int8", "timestamptz", "int8[]", "bytea", "int4"], rows)


# --- which postings are folded together -------------------------------------------------------------------------------
_WITH_KEYS = """
SELECT posting.id, posting.fold_key, posting.published_at AS at, posting.first_copy AS was,
    first.id AS first_copy, first.published_at AS first_at
FROM postings_posting posting
LEFT JOIN postings_posting first ON first.id = posting.first_copy AND first.fold_key = posting.fold_key
WHERE posting.fold_key = ANY(%s) AND posting.fold_key <> 0 AND posting.published_at BETWEEN %s AND %s
"""
# A posting that is just being edited is left to `note_recent_copies`: waiting for it could become a deadlock.
_NOTE = """
UPDATE postings_posting posting SET first_copy = noted.first_copy
FROM unnest(%s::bigint[], %s::bigint[]) noted (id, first_copy) JOIN (
    SELECT id FROM postings_posting WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
) free USING (id)
WHERE posting.id = noted.id
"""
_RECENT = """
SELECT fold_key, min(published_at) AS first_at, max(published_at) AS last_at FROM postings_posting
WHERE published_at > %s AND fold_key <> 0
GROUP BY fold_key HAVING count(*) > 1 AND bool_or(first_copy IS NULL)
"""


def note_copies_later(keys: Iterable[tuple[int, datetime]]) -> None:
    """Note copies among postings with these keys and dates, once the transaction is over.

    Of two transactions that store copies at once, neither sees the other's: the one that ends last finds both.
    """
    noted = [(key, at) for key, at in keys if key]
    transaction.on_commit(lambda: note_copies(noted), robust=True)  # no partial: Django logs the function's name


def note_copies(keys: Sequence[tuple[int, datetime]]) -> int:
    """Set `first_copy` of postings with these keys and dates; returns how many changed."""
    if not keys:
        return 0
    times = [at for _, at in keys]
    rows = fetch_rows(_WITH_KEYS, [[key for key, _ in keys], min(times) - WITHIN, max(times) + WITHIN])
    known = [Known(row.id, row.fold_key, row.at, row.first_copy, row.first_at) for row in rows]
    found = first_copies(known, WITHIN)
    changed = [row.id for row in rows if found[row.id] != row.was]
    return execute(_NOTE, [changed, [found[id] for id in changed], changed]) if changed else 0


def note_recent_copies(now: datetime) -> int:
    """Note copies of the last days that were missed, as by a process that was killed; returns how many."""
    rows = fetch_rows(_RECENT, [now - KEPT])
    return note_copies([(row.fold_key, at) for row in rows for at in (row.first_at, row.last_at)])


def forget_old_fingerprints(now: datetime) -> int:
    """Delete the fingerprints of postings that are too old for new copies; returns their number."""
    return Fingerprint.objects.filter(published_at__lt=now - KEPT).delete()[0]
