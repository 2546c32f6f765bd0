"""Scored terms of a window with their postings and history."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from apps.database.statements import fetch_rows
from apps.trending.algorithms import yioop
from apps.trending.algorithms.choosing import MAX_LONGER, choose
from apps.trending.algorithms.coherence import coherent
from apps.trending.algorithms.documents import Documents, gather, holders, source_counts
from apps.trending.algorithms.scoring import MIN_DOCUMENTS, RARE_SHARE, Horizon, Past, prior_shares, rise
from apps.trending.algorithms.slices import Counts, unpack_terms
from apps.trending.algorithms.terms import joints_of
from apps.trending.queries.slices import first_begin, history, slices_of, sum_of
from apps.trending.queries.spelling import keys_of
from apps.trending.queries.times import HOUR, begins, later, start_of

MAX_DOCUMENTS = 20_000  # of a window; beyond that, a sample of hours is read


class Postings(NamedTuple):
    ids: Sequence[int]  # by time
    documents: Documents


def postings_of(language: str, category: str, begin: datetime, end: datetime, total: int) -> Postings:
    """Postings of [begin, end), which are begins of hours with `total` postings; if these are many, a sample of hours.

    The sample depends only on the hours and its size.
    """
    hours = list(begins(begin, "hour", (end - begin) // HOUR))
    every = -(-max(total, 1) // MAX_DOCUMENTS)
    if every > 1:
        hours = [hour for hour in hours if crc32(hour.isoformat().encode()) % every == 0]
    rows = fetch_rows(
        "SELECT posting_id, source_id, terms FROM ("
        "SELECT DISTINCT ON (source_id, fold) posting_id, source_id, terms, hour FROM trending_counted"
        " WHERE language = %s AND (%s = '' OR category = %s) AND hour = ANY(%s)"
        " ORDER BY source_id, fold, posting_id) folded ORDER BY hour, posting_id",
        [language, category, category, hours],
    )
    documents = gather([unpack_terms(row.terms) for row in rows], [row.source_id for row in rows])
    return Postings([row.posting_id for row in rows], documents)


SHOWN = 20  # terms per list
MAX_CANDIDATES = 5_000  # terms by documents
NEWEST = 5  # postings stored with a term

# Of each horizon: the steps of a curve, and the steps per point.
CURVES = {"hour": (48, 1), "day": (168, 6), "week": (28, 1), "month": (90, 1), "year": (24, 1)}


class Line(NamedTuple):
    """A term of a list without its spelling."""

    number: int
    score: float
    documents: int
    expected: float | None
    sources: int
    posting_ids: list[int]  # the newest first
    related: dict[int, list[int]]  # postings by number


class ScoreParameters(NamedTuple):
    """A list and its time."""

    language: str
    category: str  # empty for all
    horizon: Horizon
    now: datetime

    @property
    def end(self) -> datetime:
        """The end of the current step."""
        return later(start_of(self.now, self.horizon.step), self.horizon.step, 1)

    def ago(self, steps: int) -> datetime:
        return later(self.end, self.horizon.step, -steps)

    @property
    def window(self) -> tuple[str, str, str, datetime, datetime]:
        return self.horizon.step, self.language, self.category, self.ago(self.horizon.window), self.end


# --- ours -------------------------------------------------------------------------------------------------------------
def risen(spec: ScoreParameters) -> list[Line]:
    """The terms that rose most above their usual frequency."""
    spec = _with_a_past(spec)
    horizon = spec.horizon
    window = sum_of(*spec.window)
    terms = _candidates(window)
    if not len(terms):
        return []
    postings = postings_of(spec.language, spec.category, spec.ago(horizon.window), spec.end, window.documents)
    held_by = holders(postings.documents, terms)
    sources = source_counts(postings.documents, held_by)
    held = np.array([len(documents) for documents in held_by], np.int64)
    past = _past(spec, terms)
    counts = window.of(terms)
    # Keys, and with them priors, are known of some terms only: first score all as if general news had none of them.
    scores = rise(counts, sources, held, window.documents, past, horizon, RARE_SHARE).scores
    best = np.argsort(-scores, kind="stable")[:MAX_LONGER]
    best = best[scores[best] > 0]
    keys = keys_of({int(terms[term]): _newest(postings, held_by[term]) for term in best})
    best = np.array([term for term in best if int(terms[term]) in keys], np.int64)
    names = [keys[int(terms[term])] for term in best]
    prior = prior_shares(names, spec.language)
    found = rise(counts[best], sources[best], held[best], window.documents, past.only(best), horizon, prior)
    held_by_best = [held_by[term] for term in best]
    scores = found.scores * coherent(postings.documents, held_by_best, names)
    choices = choose(scores, held_by_best, names, most=SHOWN, cut=horizon.cut)
    return [
        Line(
            int(terms[term]),
            float(found.scores[choice.term]),
            int(counts[term]),
            float(found.expected[choice.term]),
            int(sources[term]),
            _newest(postings, held_by[term]),
            {int(terms[other]): _newest(postings, held_by[other]) for other in best[list(choice.related)]},
        )
        for choice in choices
        for term in [best[choice.term]]
    ]


def _with_a_past(spec: ScoreParameters) -> ScoreParameters:
    """With a shorter window while the history is short, so that there is a period to compare with.

    Otherwise common terms would trend in the first weeks and years of a portal. The hour and day horizons are not
    changed, since they have a history after a day.
    """
    horizon = spec.horizon
    first = first_begin(horizon.step, spec.language, spec.category)
    if horizon.step == "hour" or first is None:
        return spec
    known = next((steps for steps in range(2 * horizon.window) if spec.ago(steps) <= first), 2 * horizon.window)
    return spec._replace(horizon=horizon._replace(window=max(min(horizon.window, known // 2), 1)))


def _candidates(window: Counts) -> NDArray[np.int64]:
    enough = np.flatnonzero(window.counts >= MIN_DOCUMENTS)
    best = enough[np.argsort(-window.counts[enough], kind="stable")[:MAX_CANDIDATES]]
    return window.terms[np.sort(best)]


def _past(spec: ScoreParameters, terms: NDArray[np.int64]) -> Past:
    """The history from the first step with postings on."""
    horizon = spec.horizon
    begin = spec.ago(horizon.window + horizon.past)
    counts, totals = history(terms, horizon.step, spec.language, spec.category, begin, horizon.past)
    first = int(np.argmax(totals > 0)) if totals.any() else len(totals)
    return Past(counts[first:], totals[first:])


def _newest(postings: Postings, documents: NDArray[np.int64]) -> list[int]:
    """The newest posting of each source first, so that no ticker speaks for all."""
    newest = documents[::-1]
    first = np.sort(np.unique(postings.documents.sources[newest], return_index=True)[1])
    return [postings.ids[document] for document in [*newest[first], *np.delete(newest, first)][:NEWEST]]


# --- Yioop's ----------------------------------------------------------------------------------------------------------
def by_yioop(spec: ScoreParameters) -> list[Line]:
    """The terms that Yioop would list: the sums of its rows, one per hour, day, week or month.

    Unlike there, each posting counts in the hour of its publication, as if it had been retrieved immediately, and each
    term of a posting once.
    """
    begin, scores = _yioop_scores(spec)
    numbers = np.array(list(scores)[:SHOWN], np.int64)
    if not len(numbers):
        return []
    window = sum_of(spec.horizon.step, spec.language, spec.category, begin, spec.end)
    postings = postings_of(spec.language, spec.category, begin, spec.end, window.documents)
    held_by = holders(postings.documents, numbers)
    sources, counts = source_counts(postings.documents, held_by), window.of(numbers)
    return [
        Line(
            number, scores[number], int(counts[place]), None, int(sources[place]), _newest(postings, held_by[place]), {}
        )
        for place, number in enumerate(numbers.tolist())
    ]


def _yioop_scores(spec: ScoreParameters) -> tuple[datetime, dict[int, float]]:
    """The beginning of the period, and the scores by term."""
    if spec.horizon.name == "hour":
        return spec.ago(1), _rolled_up(spec, "hour", spec.ago(1))
    if spec.horizon.name == "day":  # since the midnight before the last
        midnight = later(start_of(spec.now, "day"), "day", -1)
        return midnight, _rolled_up(spec, "hour", midnight)
    if spec.horizon.name == "month":  # of weeks, and these of days
        begin = spec.ago(28)
        weeks = [_rolled_up(spec, "day", later(begin, "day", 7 * week), 7) for week in range(4)]
        return begin, yioop.rolled_up(weeks)
    begin = spec.ago(spec.horizon.window)
    return begin, _rolled_up(spec, spec.horizon.step, begin)


def _rolled_up(spec: ScoreParameters, step: str, begin: datetime, steps: int | None = None) -> dict[int, float]:
    """The sum of rows from a time on, one per step, each with its best 50 terms."""
    end = spec.end if steps is None else later(begin, step, steps)
    rows: dict[datetime, dict[int, float]] = {}
    for begins_at, counts in slices_of(step, spec.language, spec.category, begin, end):
        scores = yioop.item_scores(joints_of(counts.terms), counts.counts, np.zeros(len(counts.terms)))
        row = rows.setdefault(begins_at, {})
        for place in np.flatnonzero(scores):
            term = int(counts.terms[place])
            row[term] = row.get(term, 0.0) + float(scores[place])
    return yioop.rolled_up(yioop.row(row) for row in rows.values())


# --- curves -----------------------------------------------------------------------------------------------------------
def curves(spec: ScoreParameters, numbers: Sequence[int]) -> dict[int, list[int]]:
    """Documents of each term over time, the newest last."""
    steps, together = CURVES[spec.horizon.name]
    terms = np.array(numbers, np.int64)
    counts, _ = history(terms, spec.horizon.step, spec.language, spec.category, spec.ago(steps), steps)
    points = counts.reshape(steps // together, together, len(terms)).sum(axis=1)
    return {number: points[:, place].tolist() for place, number in enumerate(numbers)}
