"""Spelling correction by the vocabulary of the postings."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping

from rapidfuzz import process
from rapidfuzz.distance import OSA

MIN_LETTERS = 4  # letters; shorter words have too many neighbours
MAX_LENGTH = 40
_SHORT = 5  # letters up to which one edit is allowed, above it two
_SURER = 10  # factor of document frequencies for a correction
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"(?<!\w)[^\W\d_{_SPACELESS}]{{{MIN_LETTERS - 1},{MAX_LENGTH}}}(?!\w)")


def counted_words(texts: Iterable[str]) -> Counter[str]:
    """Document frequency of each word in lower case.

    >>> sorted(counted_words(["The vote, the Vote", "vote 2023 in 北京"]).items())
    [('the', 1), ('vote', 2)]
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(_WORD.findall(text.lower())))
    return counts


class Vocabulary:
    """Words with their document frequencies.

    >>> known = Vocabulary({"government": 900, "governor": 40, "vote": 70})
    >>> known.meant("goverment"), known.meant("Vtoe"), known.meant("governor"), known.meant("xylophone")
    ('government', 'vote', '', '')
    """

    def __init__(self, documents: Mapping[str, int]) -> None:
        self._documents = documents
        self._by_length: dict[int, list[str]] = {}  # the most frequent first
        for word in sorted(documents, key=lambda word: -documents[word]):
            self._by_length.setdefault(len(word), []).append(word)

    def meant(self, word: str) -> str:
        """The probable correction, "" if there is none.

        The one with the fewest edits (insertion, deletion, substitution, transposition), then with the same first
        letter, then the most frequent.
        """
        word = word.lower()
        if not MIN_LETTERS <= len(word) <= MAX_LENGTH or not _WORD.fullmatch(word):
            return ""
        most = 1 if len(word) <= _SHORT else 2
        enough = max(1, _SURER * self._documents.get(word, 0))
        surer: list[tuple[str, int]] = []
        for length in range(len(word) - most, len(word) + most + 1):
            alike = self._by_length.get(length, [])
            among = alike[: bisect_right(alike, -enough, key=lambda other: -self._documents[other])]
            found = process.extract(word, among, scorer=OSA.distance, score_cutoff=most, limit=None)
            surer += [(other, round(edits)) for other, edits, _ in found]
        if not surer:
            return ""
        return min(surer, key=lambda pair: (pair[1], pair[0][0] != word[0], -self._documents[pair[0]], pair[0]))[0]
