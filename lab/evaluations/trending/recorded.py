"""Lists of terms as they would have been at hours of a recording, for people to judge."""

import json
import lzma
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from apps.postings.algorithms.words import language_of
from apps.trending.algorithms.choosing import choose
from apps.trending.algorithms.coherence import coherent
from apps.trending.algorithms.documents import gather, holders, source_counts
from apps.trending.algorithms.scoring import HOUR_HORIZON, Past, prior_shares, rise
from apps.trending.algorithms.terms import Term, fold_of, terms_of
from apps.trending.queries.spelling import best_spelling

SHOWN = 20  # terms
SECONDS = 3_600
SPELLED = 5  # newest postings by which a term is spelled, as in the portal


@dataclass(frozen=True, slots=True)
class Recorded:
    at: int  # h since 1970
    source: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    term: str
    documents: int
    sources: int
    expected: float


def drawn_hours(first: datetime, last: datetime, count: int, seed: int) -> list[int]:
    """Hours since 1970 at which lists are made, ascending."""
    begin, end = (int(moment.timestamp()) // SECONDS for moment in (first, last))
    return sorted(random.Random(seed).sample(range(begin, end), count))


def read_hours(file: Path, hours: Sequence[int], language: str, history: int) -> dict[int, list[Recorded]]:
    """For each hour the postings of its window and of the history before, by time, without near-duplicates."""
    before = history + HOUR_HORIZON.window
    found: dict[int, dict[tuple[int, int, int], Recorded]] = {hour: {} for hour in hours}
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            at = int(line.partition('"t": ')[2].partition(",")[0]) // SECONDS
            wanted = [hour for hour in hours[bisect_left(hours, at + 1) :] if at >= hour - before]
            if not wanted:
                continue
            posting = json.loads(line)
            title, text = posting["title"] or "", posting["desc"] or ""
            if language_of(f"{title} {text}", "")[:3] == language:
                recorded = Recorded(at, posting["src"], tuple(terms_of(title, text, language)))
                for hour in wanted:
                    found[hour].setdefault((at, recorded.source, fold_of(title or text, language)), recorded)
    return {hour: sorted(postings.values(), key=lambda posting: posting.at) for hour, postings in found.items()}


def listed(postings: Sequence[Recorded], hour: int, language: str, history: int) -> list[Listed]:
    """The list of the last hours at the beginning of an hour."""
    begin = hour - HOUR_HORIZON.window
    window = [posting for posting in postings if posting.at >= begin]
    rows = [np.unique(np.array([term.number for term in posting.terms], np.int64)) for posting in window]
    documents = gather(rows, [posting.source for posting in window])
    numbers = np.unique(documents.terms)
    held_by = holders(documents, numbers)
    counts = np.array([len(each) for each in held_by], np.int64)
    keys = {term.number: term.key for posting in window for term in posting.terms}
    names = [keys[number] for number in numbers.tolist()]
    sources = source_counts(documents, held_by)
    past = _past(postings, numbers.tolist(), begin, history)
    prior = prior_shares(names, language)
    found = rise(counts, sources, counts, len(window), past, HOUR_HORIZON, prior)
    rising = np.flatnonzero(found.scores)
    scores = np.zeros(len(names))
    scores[rising] = found.scores[rising] * coherent(
        documents, [held_by[term] for term in rising], [names[term] for term in rising]
    )
    choices = choose(scores, held_by, names, most=SHOWN, cut=HOUR_HORIZON.cut)
    return [
        Listed(
            _spelling([window[number] for number in held_by[term][-SPELLED:]], int(numbers[term])),
            int(counts[term]),
            int(sources[term]),
            float(found.expected[term]),
        )
        for term in (choice.term for choice in choices)
    ]


def _past(postings: Sequence[Recorded], numbers: Sequence[int], begin: int, history: int) -> Past:
    column = {number: place for place, number in enumerate(numbers)}
    counts = np.zeros((history, len(numbers)), np.int64)
    totals = np.zeros(history, np.int64)
    for posting in postings:
        if posting.at < begin:
            step = posting.at - begin + history
            totals[step] += 1
            held = {column[term.number] for term in posting.terms if term.number in column}
            counts[step, list(held)] += 1
    return Past(counts, totals)


def _spelling(postings: Sequence[Recorded], number: int) -> str:
    return best_spelling(Counter(term.spelling for each in postings for term in each.terms if term.number == number))


def as_markdown(lists: dict[int, list[Listed]]) -> Iterator[str]:
    """A heading of each hour, and its terms on lines of their own."""
    for hour, terms in lists.items():
        moment = datetime.fromtimestamp(0, UTC) + timedelta(hours=hour)
        yield f"**{moment:%Y-%m-%d %H:%M}**: " + " · ".join(each.term for each in terms)
