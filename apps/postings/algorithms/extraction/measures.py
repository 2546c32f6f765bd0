"""Comparison of texts by their bags of four neighbouring words.

As in the article-extraction-benchmark (github.com/scrapinghub/article-extraction-benchmark), words are runs of letters
and digits.
"""

import re
from collections import Counter
from collections.abc import Sequence

SHINGLE = 4  # words

# Chinese and Japanese do not mark words: each character counts as one.
_WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)

Shingle = tuple[str, ...]


def words(text: str) -> list[str]:
    """
    >>> words("Mr. O'Neill's 2nd 北京")
    ['Mr', 'O', 'Neill', 's', '2nd', '北', '京']
    """
    return _WORD.findall(text)


def shingles(tokens: Sequence[str]) -> Counter[Shingle]:
    """The bag of runs of four words; a shorter text is one run.

    >>> sorted(shingles(["a", "b", "c", "d", "e"]))
    [('a', 'b', 'c', 'd'), ('b', 'c', 'd', 'e')]
    """
    if not tokens:
        return Counter()
    last = max(1, len(tokens) - SHINGLE + 1)
    return Counter(tuple(tokens[start : start + SHINGLE]) for start in range(last))


def f1(expected: Counter[Shingle], found: Counter[Shingle]) -> float:
    """The harmonic mean of precision and recall of two bags; 1 for two empty ones.

    >>> f1(shingles(["a", "b", "c", "d", "e"]), shingles(["a", "b", "c", "d"])) == 2 / 3
    True
    """
    both = expected.total() + found.total()
    return 2 * (expected & found).total() / both if both else 1.0
