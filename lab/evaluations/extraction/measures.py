"""How well an extracted text agrees with the one that people took from the page.

The measure of the article-extraction-benchmark (github.com/scrapinghub/article-extraction-benchmark): texts are
compared by their bags of four neighbouring words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.postings.algorithms.extraction.choosing import shingles, words


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares of a page's shingles: found rightly, found wrongly, missed; together 1."""

    found: float
    wrong: float
    missed: float
    identical: bool


@dataclass(frozen=True, slots=True)
class Scores:
    precision: float
    recall: float
    f1: float
    identical: float  # the share of pages whose words are all the same


def agreement(expected: str, extracted: str) -> Agreement:
    """Compare one page's extracted text with the expected one.

    >>> agreement("a b c d e", "a b c d")
    Agreement(found=0.5, wrong=0.0, missed=0.5, identical=False)
    """
    right, ours = words(expected), words(extracted)
    bag, our_bag = shingles(right), shingles(ours)
    found = (bag & our_bag).total()
    wrong, missed = our_bag.total() - found, bag.total() - found
    total = found + wrong + missed
    if not total:
        return Agreement(0.0, 0.0, 0.0, identical=True)
    return Agreement(found / total, wrong / total, missed / total, right == ours)


def scores(pages: Iterable[Agreement]) -> Scores:
    """Precision and recall averaged over the pages that have them, and the harmonic mean of these averages.

    A page without extracted text has no precision, and one without expected text no recall.

    >>> scores([agreement("a b c d e", "a b c d"), agreement("a b", "a b")])
    Scores(precision=1.0, recall=0.75, f1=0.8571428571428571, identical=0.5)
    """
    found = list(pages)
    precision = _mean([page.found / (page.found + page.wrong) for page in found if page.found + page.wrong])
    recall = _mean([page.found / (page.found + page.missed) for page in found if page.found + page.missed])
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Scores(precision, recall, f1, _mean([float(page.identical) for page in found]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
