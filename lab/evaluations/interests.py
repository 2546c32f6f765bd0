"""What searches of known importance do to the retrieval of recorded sources: the same weeks with them and without."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.alerts.algorithms.interest import counted_importance, interests
from apps.alerts.algorithms.relevance import HEAVIEST, relevant_sources
from apps.postings.algorithms.words import analyse
from apps.retrieval.algorithms.calendar import DAY, WEEK, hours_of
from apps.retrieval.algorithms.cam.relevance import Vector, unit_vector
from apps.retrieval.algorithms.simulation.accounting import Outcome, matching, simulate_reactive
from apps.retrieval.algorithms.simulation.comparison import LEAST_GAP
from apps.retrieval.algorithms.simulation.priced_plan import Lessons, PricedPlan, first_price
from apps.retrieval.algorithms.traces import Trace
from lab.worlds.items import Item

FloatArray = NDArray[np.float64]

LEARNT = 8 * WEEK  # h
TOLERANCE = 0.002  # of the retrievals
WORDS_DRAWN_FROM = 40  # the heaviest of a source
READ = 100  # documents of a source


@dataclass(frozen=True)
class World:
    """Recorded sources, their words in the weeks before the test, and their publication times."""

    trace: Trace
    vectors: Sequence[Vector]  # of each source
    words: Sequence[str]  # by the number of the term
    frequencies: Mapping[int, int]
    documents: int
    start: float
    end: float


@dataclass(frozen=True)
class Searches:
    """Saved searches, and their effect on the worth of sources."""

    queries: Sequence[tuple[str, ...]]
    importance: FloatArray
    factors: FloatArray  # on the worth of each source


def world(items: Sequence[Item], languages: Mapping[int, str], *, begin: float, days: float) -> World:
    """Sources that published in the weeks before `begin` and after; read from nothing later than that."""
    by_source: dict[int, list[Item]] = {}
    for item in items:
        by_source.setdefault(item.source, []).append(item)
    times = {n: hours_of(np.array([item.published for item in some], np.float64)) for n, some in by_source.items()}
    end = begin + days * DAY
    numbers = [n for n in sorted(times) if np.sum((times[n] >= begin - LEARNT) & (times[n] < begin)) >= 10]
    trace = Trace.of([str(n) for n in numbers], [times[n] for n in numbers]).window(begin - LEARNT, end)
    dictionary: dict[str, int] = {}
    counts, held, documents = [], Counter[int](), 0
    for n in numbers:
        known = [item for item, at in zip(by_source[n], times[n], strict=True) if at < begin][-READ:]
        found = Counter[int]()
        for item in known:
            terms = analyse(f"{item.title}\n{item.text}", languages.get(n, "")).terms
            numbered = [dictionary.setdefault(term, len(dictionary)) for term in terms]
            found.update(numbered)
            held.update(set(numbered))
            documents += 1
        counts.append(found)
    vectors = [_vector(found, held, documents) for found in counts]
    return World(trace, vectors, list(dictionary), held, documents, begin, end)


def _vector(counts: Mapping[int, int], held: Mapping[int, int], documents: int) -> Vector:
    terms = np.array(sorted(counts), np.int64)
    occurring = np.array([counts[term] for term in terms.tolist()], np.int64)
    frequencies = np.array([held[term] for term in terms.tolist()], np.int64)
    return unit_vector(terms, occurring, frequencies, documents, most=HEAVIEST)


def draw_searches(world: World, lessons: Lessons, count: int, *, max_share: float, seed: int) -> Searches:
    """`count` searches for two characteristic words of a source each, of importance 1 to 10."""
    drawn = random.Random(seed)
    queries, rows = [], []
    for place in drawn.sample(range(len(world.vectors)), min(count, len(world.vectors))):
        terms = world.vectors[place][0][:WORDS_DRAWN_FROM]
        chosen = np.array(sorted(drawn.sample(terms.tolist(), 2)), np.int64)
        queries.append(tuple(world.words[term] for term in chosen.tolist()))
        rows.append(_vector(dict.fromkeys(chosen.tolist(), 1), world.frequencies, world.documents))
    importance = np.array([float(drawn.randint(1, 10)) for _ in rows])
    counted = counted_importance(importance, np.arange(len(rows)))
    of_search, of_source, values = relevant_sources(world.vectors, rows)
    weights = np.zeros(len(world.vectors))
    np.add.at(weights, of_source, counted[of_search] * values)
    return Searches(queries, importance, interests(weights, lessons.root_masses(), max_share))


def retrieved(world: World, lessons: Lessons, worth: FloatArray, per_day: float, *, seed: int) -> Outcome:
    """Simulate the test weeks with our plan at `per_day` retrievals per source and day."""
    phases = np.random.default_rng(seed).random(len(world.trace))
    test = world.trace.window(world.start, world.end)
    days = (world.end - world.start) / DAY

    def outcome(price: float) -> Outcome:
        plan = PricedPlan(world.trace, lessons, price, worth, LEAST_GAP, DAY)
        return simulate_reactive(test, plan, world.start, world.end, least_gap=LEAST_GAP, phases=phases)

    wanted = per_day * len(world.trace) * days
    first = first_price(lessons, worth, per_day)
    return matching(outcome, wanted, first=first, exponent=-0.5, tolerance=TOLERANCE)[1]


def summed_delays(world: World, outcome: Outcome) -> FloatArray:
    """The summed delay of the postings of each source, in hours."""
    test = world.trace.window(world.start, world.end)
    summed = np.zeros(len(test))
    np.add.at(summed, test.owners, outcome.delays)
    return summed
