"""Folding postings of one article, whichever feeds they came by."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction

from apps.database.statements import execute, query
from apps.postings.algorithms.duplicates import Article, Known, first_copies, restored
from apps.postings.models import Fingerprint

WITHIN = timedelta(hours=48)  # between an article and its copies: what returns later is a column
KEPT = timedelta(days=4)
HOLDERS = 20  # postings near in time by which a band finds copies: those from one template can be thousands


class Dated(NamedTuple):
    """An article and when it was published."""

    article: Article
    at: datetime


class Folded(NamedTuple):
    """An article with the key that it shares with its copies, and the bands by which later copies find it."""

    dated: Dated
    key: int
    bands: list[int]


# An array that the planner knows not: it expects most postings to have one of a hundred bands, and would read them all.
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
    by_band: dict[int, list[tuple[Dated, int]]] = defaultdict(list)
    if wanted := sorted({band for article, _ in articles for band in article.bands}):
        for row in query(CANDIDATES, [wanted, but]):
            known = Dated(restored(bytes(row.values), row.words, row.bands), row.published_at)
            for band in row.bands:
                by_band[band].append((known, row.fold_key))
    folded = []
    for dated in articles:
        article, at = dated
        near = {band: [each for each in by_band[band] if abs(each[0].at - at) <= WITHIN] for band in article.bands}
        copies = (key for held in near.values() for known, key in held if article.is_copy_of(known.article))
        key = next(copies, article.fold_key)
        bands = [band for band, held in near.items() if len(held) < HOLDERS]
        for band in bands:
            by_band[band].append((dated, key))
        folded.append(Folded(dated, key, bands))
    return folded


_SAVE = """
INSERT INTO postings_fingerprint (posting_id, published_at, bands, values, words) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (posting_id) DO UPDATE SET bands = excluded.bands, values = excluded.values, words = excluded.words
"""


def remember(articles: Iterable[tuple[int, Folded]]) -> None:
    """Let copies of postings, given by id, be found."""
    rows = [
        (id, at, bands, article.values.astype("<u4").tobytes(), article.words)
        for id, ((article, at), key, bands) in articles
        if key
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_SAVE, rows)


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
    transaction.on_commit(lambda: note_copies(noted), robust=True)  # no partial: Django names a function that fails


def note_copies(keys: Sequence[tuple[int, datetime]]) -> int:
    """Set `first_copy` of postings with these keys and dates; returns how many changed."""
    if not keys:
        return 0
    times = [at for _, at in keys]
    rows = query(_WITH_KEYS, [[key for key, _ in keys], min(times) - WITHIN, max(times) + WITHIN])
    known = [Known(row.id, row.fold_key, row.at, row.first_copy, row.first_at) for row in rows]
    found = first_copies(known, WITHIN)
    changed = [row.id for row in rows if found[row.id] != row.was]
    return execute(_NOTE, [changed, [found[id] for id in changed], changed]) if changed else 0


def note_recent_copies(now: datetime) -> int:
    """Note copies of the last days that were missed, as by a process that was killed; returns how many."""
    rows = query(_RECENT, [now - KEPT])
    return note_copies([(row.fold_key, at) for row in rows for at in (row.first_at, row.last_at)])


def forget_old_fingerprints(now: datetime) -> int:
    """Delete the fingerprints of postings that are too old for new copies; returns their number."""
    return Fingerprint.objects.filter(published_at__lt=now - KEPT).delete()[0]
