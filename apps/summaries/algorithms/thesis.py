"""Characteristic words and sentence weights as Luo's thesis prints them, with what it leaves open written down.

``P(w) = F(w) (1 - numdoc/totalnumdoc) (L(w) - D)^c`` and ``L(s) = sum P(w) / (s0 s1 s2 m)``.

Guards, where a printed formula has no value or the thesis gives none:

- an empty collection has no quotient ``numdoc/totalnumdoc``: it counts as 0. A word that is in every document of a
  collection weighs 0, and so does every word of a collection of one document; hence the start table of young ones;
- ``L(w) < D`` has no real power: the word weighs 0, as one of length D does (with c = 0 too);
- most sentences have no numeral, and ``L(s)`` would divide by zero: ``s2 = max(1, numerals)``;
- ``s1`` counts sub-sentences, of which a sentence has one more than separators; never 0;
- a sentence without words (``s0 = 0``) weighs 0;
- the values of D, c and m, and how many words are characteristic, are settings;
- that titles and leading sentences weigh more "dynamically" has no formula: it is left to our own ranking.

References
----------
.. [1] Luo, "Ai-Times: a parallel web news retrieval system", Hong Kong Polytechnic University, 2007, section 3.3.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import rjieba

from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.summaries.algorithms.frequencies import Frequencies

_SEPARATOR = re.compile(r"[,;:—–，；：、]|\s-\s")
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*|[〇零一二三四五六七八九十百千万亿两]{2,}|[零〇]")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the thesis leaves to whoever runs it."""

    shortest: float = 1.0  # D, characters
    influence: float = 0.5  # c, of the length of a word
    divisor: int = 1  # m
    characteristic: int | None = None  # how many words are characteristic; None for all


def words_of(text: str, language: str) -> list[str]:
    """The words of a text, stemmed, without stop words; of Chinese as rjieba parts them.

    >>> words_of("The ships sailed", "en"), words_of("总理访问柏林", "zh")
    (['ship', 'sail'], ['总理', '访问', '柏林'])
    """
    if not SPACELESS_CHARACTER.search(text):
        return [item for item in analyse(text, language).sequence if item[0] != STOP_MARK]
    return [word.lower() for word in rjieba.cut(text) if word[0].isalnum()]


def characteristic_words(
    words: Sequence[str], frequencies: Frequencies, settings: Settings = Settings()
) -> dict[str, float]:
    """The characteristic words of a document with their weights P(w), the heaviest first.

    Parameters
    ----------
    words : sequence of str
        All words of the document, in the units of `frequencies`.
    frequencies : Frequencies
        Of the collection.

    Examples
    --------
    >>> frequencies = Frequencies(4, {"ship": 1, "said": 4})
    >>> characteristic_words(["ship", "said", "ship", "sinks"], frequencies, Settings(shortest=0, influence=1))
    {'ship': 6.0, 'sinks': 5.0, 'said': 0.0}
    """
    times = Counter(words)
    shares = frequencies.shares(list(times))
    weights = {
        word: float(often * (1 - share) * _worth_of_length(len(word), settings))
        for (word, often), share in zip(times.items(), shares, strict=True)
    }
    heaviest = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(heaviest[: settings.characteristic])


def _worth_of_length(length: int, settings: Settings) -> float:
    beyond = length - settings.shortest
    return beyond**settings.influence if beyond > 0 else 0.0


def sentence_weight(
    sentence: str, language: str, weights: Mapping[str, float], settings: Settings = Settings()
) -> float:
    """``L(s)``: what the characteristic words of a sentence weigh, repeats counted, over its words, parts and numerals.

    Examples
    --------
    Ten words, three parts, two numerals:

    >>> sentence_weight("The ship, said Mr Smith, sank 1912 off 2 ports", "en", {"ship": 6.0, "sank": 9.0})
    0.25
    """
    words = words_of(sentence, language)
    total = _length(sentence, words, language)
    if not total:
        return 0.0
    parts = 1 + len(_SEPARATOR.findall(sentence))
    numerals = max(1, len(_NUMERAL.findall(sentence)))
    return sum(weights.get(word, 0.0) for word in words) / (total * parts * numerals * settings.divisor)


def _length(sentence: str, words: Sequence[str], language: str) -> int:
    """Its words, stop words among them; rjieba's are all there are."""
    return len(words) if SPACELESS_CHARACTER.search(sentence) else len(analyse(sentence, language).sequence)


def thesis_scores(
    sentences: Sequence[str], language: str, frequencies: Frequencies, settings: Settings = Settings()
) -> list[float]:
    """``L(s)`` of each sentence of a document."""
    words = [word for sentence in sentences for word in words_of(sentence, language)]
    weights = characteristic_words(words, frequencies, settings)
    return [sentence_weight(sentence, language, weights, settings) for sentence in sentences]
