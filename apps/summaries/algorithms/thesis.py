"""Characteristic words as in Luo's thesis, with explicit choices where it leaves something open.

``P(w) = F(w) (1 - numdoc/totalnumdoc) (L(w) - D)^c``

Guards, where a printed formula has no value or the thesis gives none:

- an empty collection has no quotient ``numdoc/totalnumdoc``: it counts as 0. A word that is in every document of a
  collection weighs 0, and so does every word of a collection of one document; hence the start table of young ones;
- ``L(w) < D`` has no real power: the word weighs 0, as one of length D does (with c = 0 too);
- the values of D and c are settings, and how many words are characteristic is left to the caller.

References
----------
.. [1] Luo, "Ai-Times: a parallel web news retrieval system", Hong Kong Polytechnic University, 2007, section 3.3.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.summaries.algorithms.vectors import Frequencies


def words_of(text: str, language: str) -> list[str]:
    """The words of a text, stemmed, without stop words; of Chinese as rjieba parts them.

    >>> words_of("The ships sailed", "en"), words_of("总理访问柏林", "zh")
    (['ship', 'sail'], ['总理', '访问', '柏林'])
    """
    if not SPACELESS_CHARACTER.search(text):
        return [item for item in analyse(text, language).sequence if item[0] != STOP_MARK]
    import rjieba  # noqa: PLC0415 - it loads its dictionary, which only Chinese needs

    return [word.lower() for word in rjieba.cut(text) if word[0].isalnum()]


def characteristic_words(
    words: Sequence[str] | Mapping[str, int], frequencies: Frequencies, *, shortest: float = 1.0, influence: float = 0.5
) -> dict[str, float]:
    """The characteristic words of a document with their weights P(w), the heaviest first.

    Parameters
    ----------
    words : sequence of str, or mapping of str to int
        All words of the document, or how often it has each, in the units of `frequencies`.
    frequencies : Frequencies
        Of the collection.
    shortest, influence : float
        D, in characters, and c, of the length of a word: the thesis leaves them open.

    Examples
    --------
    >>> frequencies = Frequencies(4, {"ship": 1, "have": 4})
    >>> characteristic_words(["ship", "have", "ship", "sinks"], frequencies, shortest=0, influence=1)
    {'ship': 6.0, 'sinks': 5.0, 'have': 0.0}
    """
    times = Counter(words)
    shares = frequencies.shares(list(times))
    weights = {
        word: often * (1 - share) * _worth_of_length(len(word) - shortest, influence)
        for (word, often), share in zip(times.items(), shares.tolist(), strict=True)
    }
    return dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0])))


def _worth_of_length(beyond: float, influence: float) -> float:
    return beyond**influence if beyond > 0 else 0.0
