"""Sentence weights as Luo's thesis prints them: ``L(s) = sum P(w) / (s0 s1 s2 m)``.

Guards, where the printed formula has no value or the thesis gives none:

- most sentences have no numeral, and ``L(s)`` would divide by zero: ``s2 = max(1, numerals)``;
- ``s1`` counts sub-sentences, of which a sentence has one more than separators; never 0;
- a sentence without words (``s0 = 0``) weighs 0;
- that titles and leading sentences weigh more "dynamically" has no formula: it is left to our own ranking.

References
----------
.. [1] Luo, "Ai-Times: a parallel web news retrieval system", Hong Kong Polytechnic University, 2007, section 3.3.
"""

import re
from collections.abc import Mapping, Sequence

from apps.postings.algorithms.words import analyse
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.summaries.algorithms.thesis import characteristic_words, words_of
from apps.summaries.algorithms.vectors import Frequencies

_SEPARATOR = re.compile(r"[,;:—–，；：、]|\s-\s")
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*|[〇零一二三四五六七八九十百千万亿两]{2,}|[零〇]")


def sentence_weight(sentence: str, language: str, weights: Mapping[str, float], divisor: int = 1) -> float:
    """``L(s)``: what the characteristic words of a sentence weigh, repeats counted, over its words, parts and numerals.

    Examples
    --------
    Ten words, three parts, two numerals:

    >>> sentence_weight("The ship, wrote Mr Smith, sank 1912 off 2 ports", "en", {"ship": 6.0, "sank": 9.0})
    0.25
    """
    words = words_of(sentence, language)
    total = _length(sentence, words, language)
    if not total:
        return 0.0
    parts = 1 + len(_SEPARATOR.findall(sentence))
    numerals = max(1, len(_NUMERAL.findall(sentence)))
    return sum(weights.get(word, 0.0) for word in words) / (total * parts * numerals * divisor)


def _length(sentence: str, words: Sequence[str], language: str) -> int:
    """Its words, stop words among them; rjieba's are all there are."""
    return len(words) if SPACELESS_CHARACTER.search(sentence) else len(analyse(sentence, language).sequence)


def thesis_scores(sentences: Sequence[str], language: str, frequencies: Frequencies) -> list[float]:
    """``L(s)`` of each sentence of a document."""
    words = [word for sentence in sentences for word in words_of(sentence, language)]
    weights = characteristic_words(words, frequencies)
    return [sentence_weight(sentence, language, weights) for sentence in sentences]
