"""Lists of trending terms compared with known trends: precision, stories found, share of background."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from apps.trending.algorithms import yioop
from apps.trending.algorithms.choosing import MAX_LONGER, choose
from apps.trending.algorithms.coherence import coherent
from apps.trending.algorithms.documents import Documents, gather, holders, source_counts
from apps.trending.algorithms.scoring import DAY_HORIZON, HOUR_HORIZON, Horizon, Past, prior_shares, rise
from apps.trending.algorithms.terms import joints_of, terms_of
from lab.evaluations.trending.baselines import bngram_scores, chi2_scores, z_scores
from lab.evaluations.trending.stream import LENGTH, Stream

SHOWN = 10
MAX_SCORED = 2_000  # terms by documents that methods score; Yioop's scores all
METHODS = ("df", "z", "chi2", "bngram", "yioop", "ours")
WEEK_BY_HOURS = Horizon("week", "hour", 168, 21 * 24, (168, 336, 504, 672), 3.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """When lists are made, and which stories are trending then: begun at most `age` ago, with `least` items."""

    horizon: Horizon
    begin: int  # h
    every: int  # h
    age: float  # h
    least: int
    is_cold: bool = False  # without history, as in a portal's first hours

    @property
    def name(self) -> str:
        return f"{self.horizon.name}_cold" if self.is_cold else self.horizon.name


TRIALS = (
    Trial(HOUR_HORIZON, 8 * 24, 5, 24.0, 4),
    Trial(DAY_HORIZON, 8 * 24, 6, 36.0, 10),
    Trial(WEEK_BY_HOURS, 15 * 24, 12, 168.0, 15),
    Trial(HOUR_HORIZON, 8 * 24, 5, 24.0, 4, is_cold=True),
)


@dataclass(slots=True)
class Tally:
    """Sums over all lists of one method."""

    shown: int = 0
    right: int = 0
    background: int = 0
    recalls: list[float] = field(default_factory=list)
    lists: int = 0

    def add(self, other: Self) -> None:
        self.shown += other.shown
        self.right += other.right
        self.background += other.background
        self.recalls += other.recalls
        self.lists += other.lists

    @property
    def precision(self) -> float:
        return self.right / self.shown if self.shown else 0.0

    @property
    def recall(self) -> float:
        return float(np.mean(self.recalls)) if self.recalls else 0.0

    @property
    def background_share(self) -> float:
        return self.background / self.shown if self.shown else 0.0

    def numbers(self) -> dict[str, float]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "background": self.background_share,
            "shown": self.shown / max(self.lists, 1),
        }


class ReadStream:
    """A stream's postings as arrays, and how often each term is in each hour."""

    def __init__(self, stream: Stream, language: str = "en") -> None:
        self.stream = stream
        self.keys: dict[int, str] = {}
        rows = []
        for item in stream.items:
            terms = terms_of(item.title, "", language)
            self.keys.update((term.number, term.key) for term in terms)
            rows.append(np.unique(np.array([term.number for term in terms], np.int64)))
        self.hours = np.array([int(item.at) for item in stream.items])
        publishers = {name: number for number, name in enumerate(dict.fromkeys(i.publisher for i in stream.items))}
        self.sources = np.array([publishers[item.publisher] for item in stream.items])
        self.labels = [item.story for item in stream.items]
        self.rows = rows
        everything = gather(rows, self.sources.tolist())
        self.terms, columns = np.unique(everything.terms, return_inverse=True)
        hour_of = np.repeat(self.hours, np.diff(everything.offsets))
        ones = np.ones(len(columns), np.int64)
        self.by_hour = csr_array((ones, (hour_of, columns)), shape=(LENGTH * 24, len(self.terms)))
        self.totals = np.bincount(self.hours, minlength=LENGTH * 24)

    def window(self, begin: int, end: int) -> tuple[Documents, int]:
        """Documents of hours [begin, end), and the number of the first."""
        first, last = np.searchsorted(self.hours, [begin, end])
        return gather(self.rows[first:last], self.sources[first:last].tolist()), int(first)

    def past(self, terms: NDArray[np.int64], end: int) -> Past:
        columns = np.searchsorted(self.terms, terms)
        return Past(self.by_hour[:end][:, columns].toarray(), self.totals[:end])


@dataclass(frozen=True, slots=True)
class Window:
    """The data available to a method."""

    terms: NDArray[np.int64]
    counts: NDArray[np.int64]
    sources: NDArray[np.int64]
    held_by: Sequence[NDArray[np.int64]]
    keys: Sequence[str]
    total: int
    past: Past
    horizon: Horizon
    documents: Documents


Tallies = dict[str, dict[str, Tally]]  # by trial and method


def evaluate(
    stream: ReadStream,
    trials: Sequence[Trial] = TRIALS,
    methods: Sequence[str] = METHODS,
    *,
    done: Callable[[], object] = lambda: None,
) -> Tallies:
    """Tallies of each method at each horizon; `done` is called after each list."""
    tallies = {trial.name: {method: Tally() for method in methods} for trial in trials}
    for trial in trials:
        for at in list_times(trial):
            _judge(stream, trial, at, tallies[trial.name])
            done()
    return tallies


def pooled(several: Iterable[Tallies]) -> Tallies:
    """The tallies of several streams as one."""
    sums: Tallies = {}
    for tallies in several:
        for horizon, methods in tallies.items():
            for method, tally in methods.items():
                sums.setdefault(horizon, {}).setdefault(method, Tally()).add(tally)
    return sums


def list_times(trial: Trial) -> range:
    """Hours at which lists are made, up to day 27."""
    return range(trial.begin, (LENGTH - 1) * 24 + 1, trial.every)


def _judge(stream: ReadStream, trial: Trial, at: int, tallies: dict[str, Tally]) -> None:
    begin = at - trial.horizon.window
    documents, first = stream.window(begin, at)
    labels = stream.labels[first : first + len(documents)]
    window = _window(stream, documents, trial, begin)
    items = Counter(labels)
    trending = {
        story
        for story, amount in items.items()
        if story and amount >= trial.least and at - stream.stream.onsets[story] <= trial.age
    }
    for method, tally in tallies.items():
        shown = _yioop(stream, begin, at) if method == "yioop" else _chosen(method, window)
        held_by = holders(documents, np.array(shown, np.int64))
        _count(tally, [_story_of(numbers, labels) for numbers in held_by], trending)


def _window(stream: ReadStream, documents: Documents, trial: Trial, begin: int) -> Window:
    terms, counts = np.unique(documents.terms, return_counts=True)
    best = np.sort(np.argsort(-counts, kind="stable")[:MAX_SCORED])
    terms, counts = terms[best], counts[best]
    held_by = holders(documents, terms)
    return Window(
        terms,
        counts,
        source_counts(documents, held_by),
        held_by,
        [stream.keys[term] for term in terms.tolist()],
        len(documents),
        stream.past(terms, 0 if trial.is_cold else begin),
        trial.horizon,
        documents,
    )


def _chosen(method: str, window: Window) -> list[int]:
    methods: dict[str, Callable[[], NDArray[np.float64]]] = {
        "df": lambda: window.counts.astype(float),
        "z": lambda: z_scores(window.counts, window.past, window.horizon.window),
        "chi2": lambda: chi2_scores(window.counts, window.total, window.past, window.horizon.background),
        "bngram": lambda: bngram_scores(window.counts, joints_of(window.terms), window.past, window.horizon.window),
        "ours": lambda: _ours(window),
    }
    choices = choose(
        methods[method](),
        window.held_by,
        window.keys,
        most=SHOWN,
        cut=window.horizon.cut if method == "ours" else 0.0,
        cover=method != "df",
    )
    return [int(window.terms[choice.term]) for choice in choices]


def _ours(window: Window) -> NDArray[np.float64]:
    prior = prior_shares(window.keys, "en")
    counts = window.counts
    scores = rise(counts, window.sources, counts, window.total, window.past, window.horizon, prior).scores
    best = np.argsort(-scores, kind="stable")[:MAX_LONGER]
    best = best[scores[best] > 0]
    found = np.zeros(len(scores))
    held_by, keys = [window.held_by[term] for term in best], [window.keys[term] for term in best]
    found[best] = scores[best] * coherent(window.documents, held_by, keys)
    return found


def _yioop(stream: ReadStream, begin: int, end: int) -> list[int]:
    """Sums of the hours' rows; each hour's postings are scored when they are new."""
    joints = joints_of(stream.terms)
    rows = []
    for hour in range(begin, end):
        columns, counts = _hour(stream, hour)
        scores = yioop.item_scores(joints[columns], counts, np.zeros(len(columns)))
        rows.append(yioop.row(dict(zip(stream.terms[columns].tolist(), scores.tolist(), strict=True))))
    return list(yioop.rolled_up(rows))[:SHOWN]


def _hour(stream: ReadStream, hour: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    row = stream.by_hour[[hour]].tocoo()
    return row.coords[1].astype(np.int64), row.data


def _story_of(documents: NDArray[np.int64], labels: Sequence[str]) -> str | None:
    """The label of most documents of a term, if it is that of half of them; the background is a label too."""
    counts = Counter(labels[document] for document in documents.tolist())
    label, amount = counts.most_common(1)[0]
    return label if 2 * amount >= len(documents) else None


def _count(tally: Tally, stories: Sequence[str | None], trending: set[str]) -> None:
    tally.lists += 1
    tally.shown += len(stories)
    tally.right += sum(story in trending for story in stories)
    tally.background += sum(story == "" for story in stories)
    if trending:
        tally.recalls.append(len(trending & set(stories)) / min(SHOWN, len(trending)))
