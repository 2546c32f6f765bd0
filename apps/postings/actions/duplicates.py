"""Folding postings of one article, whichever feeds they came by."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    is_copy: bool


class Candidate(NamedTuple):
    """A posting that may be a copy; id 0 is that of one about to be stored."""

    id: int
    dated: Dated
    key: int
    is_alone: bool = False  # folded with none, as far as is known


# Hide the array from the planner: it expects most postings to have one of a hundred bands, and would read all.
CANDIDATES = """
SELECT posting.id, known.bands, known.values, known.words, known.published_at, posting.fold_key,
    posting.first_copy IS NULL AS is_alone
FROM postings_fingerprint known JOIN postings_posting posting ON posting.id = known.posting_id
WHERE known.bands && ARRAY(SELECT unnest(%s::bigint[])) AND known.posting_id <> ALL(%s)
    AND posting.fold_key <> 0
ORDER BY known.posting_id
"""


def fold(articles: Sequence[Dated], *, exclude: Collection[int] = ()) -> list[Folded]:
    """Give each article a key, the same for copies; `exclude` are postings that are no copies. One query.

    A band that enough postings have is that of a template, and copies share other ones, too: further postings are not
    found by it. Concurrent transactions do not see each other's postings; see `note_copies_later`.
    """
    by_band, folded = _by_band(articles, exclude), []
    for dated in articles:
        near = _near(dated, by_band)
        copy = next(_copies(dated.article, near), None)
        key = dated.article.fold_key if copy is None else copy.key
        free = [band for band, held in near.items() if len(held) < HOLDERS]
        for band in free:
            by_band[band].append(Candidate(0, dated, key))
        folded.append(Folded(dated, key, free, copy is not None))
    return folded


def _by_band(articles: Sequence[Dated], exclude: Collection[int]) -> defaultdict[int, list[Candidate]]:
    """The postings that have a band of any of the articles, by ascending id."""
    found: defaultdict[int, list[Candidate]] = defaultdict(list)
    if wanted := set[int]().union(*(article.bands for article, _ in articles)):
        for row in fetch_rows(CANDIDATES, [sorted(wanted), list(exclude)]):
            dated = Dated(restored(row.values, row.words), row.published_at)
            candidate = Candidate(row.id, dated, row.fold_key, row.is_alone)
            for band in wanted.intersection(row.bands):
                found[band].append(candidate)
    return found


def _near(dated: Dated, by_band: Mapping[int, list[Candidate]]) -> dict[int, list[Candidate]]:
    """Those that an article may be a copy of, by its bands."""
    return {
        band: [each for each in by_band.get(band, ()) if abs(each.dated.at - dated.at) <= WITHIN]
        for band in dated.article.bands
    }


def _copies(article: Article, near: Mapping[int, list[Candidate]]) -> Iterator[Candidate]:
    """The copies of an article among those that share a band."""
    yield from near.get(article.page, ())
    for each in {id(each): each for each in chain.from_iterable(near.values())}.values():
        if article.is_copy_of(each.dated.article):
            yield each


_COPY = "COPY postings_fingerprint (posting_id, published_at, bands, values, words) FROM STDIN (FORMAT BINARY)"


def remember(articles: Iterable[tuple[int, Folded]]) -> None:
    """Index new postings, given by id, so that their copies are found."""
    rows = (
        (id, at, bands, article.values.astype("<u4").tobytes(), article.words)
        for id, ((article, at), key, bands, _) in articles
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
_SET = """
UPDATE postings_posting posting SET first_copy = noted.value
FROM unnest(%s::bigint[], %s::bigint[]) noted (id, value) JOIN (
    SELECT id FROM postings_posting WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
) free USING (id)
WHERE posting.id = noted.id
"""
_RECENT = """
SELECT fold_key, min(published_at) AS first_at, max(published_at) AS last_at FROM postings_posting
WHERE published_at > %s AND fold_key <> 0
GROUP BY fold_key HAVING count(*) > 1 AND bool_or(first_copy IS NULL)
"""


def note_copies_later(keys: Iterable[tuple[int, datetime]], stored: Sequence[tuple[int, Folded]] = ()) -> None:
    """Note copies among postings with these keys and dates, once the transaction is over; `stored` are new, by id.

    Of two transactions that store copies at once, neither sees the other's: the one that ends last finds both.
    """
    noted = [(key, at) for key, at in keys if key]
    # No partial: Django logs the function's name.
    transaction.on_commit(lambda: note_copies([*noted, *_fold_again(stored)]), robust=True)


_FOLDING = 7_263_541  # of an advisory lock
# All that has the old key, which it shares for a reason. What is just being edited keeps it: waiting could deadlock.
_MOVE = """
UPDATE postings_posting posting SET fold_key = %s FROM (
    SELECT id FROM postings_posting WHERE fold_key = %s AND published_at BETWEEN %s AND %s
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
) free
WHERE posting.id = free.id
"""


# One without copies, and without any that was stored just now and is noted as its copy only later.
_MOVE_ALONE = """
UPDATE postings_posting posting SET fold_key = %s FROM (
    SELECT id FROM postings_posting alone WHERE id = %s AND fold_key = %s AND first_copy IS NULL AND NOT EXISTS (
        SELECT FROM postings_posting other WHERE other.fold_key = alone.fold_key AND other.id <> alone.id
            AND other.first_copy IS NULL
            AND other.published_at BETWEEN alone.published_at - %s AND alone.published_at + %s
    ) FOR NO KEY UPDATE OF alone SKIP LOCKED
) free
WHERE posting.id = free.id
"""


class _Move(NamedTuple):
    new: int  # key
    old: int  # key
    at: datetime
    alone: int = 0  # the one posting that moves; 0 for all with the old key


def _fold_again(stored: Sequence[tuple[int, Folded]]) -> list[tuple[int, datetime]]:
    """Fold new postings with copies of transactions that have ended meanwhile; returns keys and dates that changed."""
    if not _moves(stored):
        return []
    with transaction.atomic():
        execute("SELECT pg_advisory_xact_lock(%s)", [_FOLDING])  # what another process moves may be moved on
        moves = _moves(stored)
        for new, old, at, alone in moves:
            if alone:
                execute(_MOVE_ALONE, [new, alone, old, WITHIN, WITHIN])
            else:
                execute(_MOVE, [new, old, at - KEPT, at + KEPT])
    return [(key, move.at) for move in moves for key in (move.new, move.old)]


def _moves(stored: Sequence[tuple[int, Folded]]) -> list[_Move]:
    """Moves as if of two copies the one with the smaller id had come first: what has no earlier copy goes to the
    first that is there now, and what is there without one comes along.

    So does what is alone, as it may be a copy of one posting of a group only, which has come later.
    """
    by_band = _by_band([folded.dated for _, folded in stored if folded.key], [])
    present = {each.id: each.key for held in by_band.values() for each in held}  # others may have moved them
    moves: list[_Move] = []
    for id, (dated, first_key, _, is_copy) in stored:
        key = present.get(id, first_key)
        every = [each for each in _copies(dated.article, _near(dated, by_band)) if each.id != id]
        is_settled = any(each.key == key and (is_copy or each.id < id) for each in every)
        copies = [each for each in every if each.key != key]
        earlier = [] if is_settled else [each for each in copies if each.id < id]
        new = min(earlier, key=lambda each: each.id).key if earlier else key
        if new != key:
            moves.append(_Move(new, key, dated.at))
        for each in copies:
            # Stored articles are compared without their page: a copy that is known by it has ours.
            takes_group = each.id > id and each.key in (each.dated.article.fold_key, dated.article.page)
            if each.key != new and (takes_group or each.is_alone):
                moves.append(_Move(new, each.key, each.dated.at, 0 if takes_group else each.id))
    return moves


def note_copies(keys: Sequence[tuple[int, datetime]]) -> int:
    """Set `first_copy` of postings with these keys and dates; returns how many changed."""
    if not keys:
        return 0
    times = [at for _, at in keys]
    rows = fetch_rows(_WITH_KEYS, [[key for key, _ in keys], min(times) - WITHIN, max(times) + WITHIN])
    known = [Known(row.id, row.fold_key, row.at, row.first_copy, row.first_at) for row in rows]
    found = first_copies(known, WITHIN)
    changed = [row.id for row in rows if found[row.id] != row.was]
    return execute(_SET, [changed, [found[id] for id in changed], changed]) if changed else 0


def note_recent_copies(now: datetime) -> int:
    """Note copies of the last days that were missed, as by a process that was killed; returns how many."""
    rows = fetch_rows(_RECENT, [now - KEPT])
    return note_copies([(row.fold_key, at) for row in rows for at in (row.first_at, row.last_at)])


def forget_old_fingerprints(now: datetime) -> int:
    """Delete the fingerprints of postings that are too old for new copies; returns their number."""
    return Fingerprint.objects.filter(published_at__lt=now - KEPT).delete()[0]
