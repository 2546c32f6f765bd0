"""A user's taste, learnt from opened, starred and hidden postings: naive Bayes and Rocchio combined."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import Terms, bucket_of

OPENED, STARRED, HIDDEN, PASSED_OVER = 1.0, 2.0, -2.0, -0.2  # weights of reactions
BESIDE = 5  # postings beside an opened one that were passed over; together they weigh the same
HALF_LIFE = 30.0  # days
RECENT = 50  # liked postings over which Rocchio's centroid is averaged
DISLIKED = 0.5  # factor of disliked postings in the centroid
SMOOTHING = 0.3  # added to the count of each term
TRUST = 20.0  # total weight at which taste counts half
MAX_TERMS = 5_000  # per user
UNPERSONALISED = 5  # every fifth rank is not personal
WORDS = 30  # heaviest terms of a posting that are learnt


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A posting's words, source, category and story as distinct terms."""

    terms: Terms

    @classmethod
    def of(cls, terms: Iterable[int]) -> Self:
        return cls(np.array(sorted(set(terms)), np.int32))


def item(words: Terms, *, source: int, category: str = "", story: int = 0) -> Item:
    """
    >>> item(np.array([5, 9], np.int32), source=3, category="sport").terms.size
    4
    """
    kinds = [("source", str(source)), ("category", category), ("story", str(story) if story else "")]
    return Item.of([*words.tolist(), *(bucket_of(name, kind) for kind, name in kinds if name)])


def weight_of(*, opened: bool, starred: bool, hidden: bool) -> float:
    """The weight of a user's reaction to a posting: +1 opened, +2 starred, -2 hidden, -0.2 if none of them.

    >>> weight_of(opened=True, starred=True, hidden=False), weight_of(opened=False, starred=False, hidden=False)
    (3.0, -0.2)
    """
    if not (opened or starred or hidden):
        return PASSED_OVER
    return OPENED * opened + STARRED * starred + HIDDEN * hidden


@dataclass(slots=True)
class Taste:
    """Counters by term; all fade together, and the smallest are dropped."""

    liked: dict[int, float] = field(default_factory=dict)
    disliked: dict[int, float] = field(default_factory=dict)
    centroid: dict[int, float] = field(default_factory=dict)
    weight: float = 0.0  # sum of the absolute weights

    def fade(self, days: float) -> None:
        """Apply the decay of some days."""
        factor = 2 ** (-max(days, 0.0) / HALF_LIFE)
        self.weight *= factor
        for counts in (self.liked, self.disliked):
            for term in counts:
                counts[term] *= factor

    def learn(self, item: Item, weight: float) -> None:
        """Learn the weight of a reaction, or its change: the new weight minus the old one."""
        counts, amount = (self.liked, weight) if weight > 0 else (self.disliked, -weight)
        share = 1 / max(item.terms.size, 1) ** 0.5
        for term in item.terms.tolist():
            counts[term] = counts.get(term, 0.0) + amount
        if weight > 0:
            for term in self.centroid:
                self.centroid[term] *= 1 - 1 / RECENT
        for term in item.terms.tolist():
            self.centroid[term] = self.centroid.get(term, 0.0) + share * (weight if weight > 0 else DISLIKED * weight)
        self.weight += abs(weight)
        self._forget()

    def _forget(self) -> None:
        for counts in (self.liked, self.disliked, self.centroid):
            if len(counts) > 1.2 * MAX_TERMS:
                kept = sorted(counts.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:MAX_TERMS]
                counts.clear()
                counts.update(kept)

    def evidence(self, item: Item) -> NDArray[np.float64]:
        """Log-odds of each term of a posting: liked against disliked postings."""
        liked, disliked = sum(self.liked.values()), sum(self.disliked.values())
        vocabulary = len(self.liked.keys() | self.disliked.keys()) + 1
        below = (liked + SMOOTHING * vocabulary, disliked + SMOOTHING * vocabulary)
        return np.array(
            [
                np.log((self.liked.get(term, 0.0) + SMOOTHING) / below[0])
                - np.log((self.disliked.get(term, 0.0) + SMOOTHING) / below[1])
                for term in item.terms.tolist()
            ]
        )

    def nearness(self, item: Item) -> float:
        """The cosine of a posting and the centroid of recently liked ones."""
        length = math.sqrt(sum(value * value for value in self.centroid.values()))
        dot = sum(self.centroid.get(term, 0.0) for term in item.terms.tolist())
        return dot / max(length * math.sqrt(max(item.terms.size, 1)), 1e-9)


def scores(taste: Taste, items: Sequence[Item]) -> NDArray[np.float64]:
    """How well each of the postings fits a user's taste relative to the others, between -1 and 1.

    The sum of two z-scores over the postings, of naive Bayes' log-odds and of Rocchio's cosine, squashed by tanh, and
    damped by n / (n + 20) for total weight n.

    Parameters
    ----------
    items : (n_items,) sequence of Item

    References
    ----------
    J. Rocchio, "Relevance feedback in information retrieval", 1971; M. Pazzani, D. Billsus, "Learning and revising user
    profiles", Machine Learning 27, 1997.
    """
    if len(items) < 2 or not taste.weight:
        return np.zeros(len(items))
    bayes = _standardised(np.array([taste.evidence(each).sum() for each in items]))
    rocchio = _standardised(np.array([taste.nearness(each) for each in items]))
    return np.tanh((bayes + rocchio) / 3) * taste.weight / (taste.weight + TRUST)


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros(values.size)


def interleaved(personal: Sequence[int], usual: Sequence[int]) -> list[tuple[int, bool]]:
    """Both orders interleaved: every fifth item is the next of the usual order, and marked True.

    >>> interleaved([4, 3, 2, 1, 0], [0, 1, 2, 3, 4])
    [(4, False), (3, False), (2, False), (1, False), (0, True)]
    """
    waiting = {True: iter(usual), False: iter(personal)}
    taken: set[int] = set()
    order: list[tuple[int, bool]] = []
    for place in range(1, len(personal) + 1):
        is_usual = place % UNPERSONALISED == 0
        chosen = next(each for each in waiting[is_usual] if each not in taken)
        taken.add(chosen)
        order.append((chosen, is_usual))
    return order
