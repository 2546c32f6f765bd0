"""What of a posting tells which story it belongs to: its words, and which of them are names."""

import re
from collections import Counter
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.fingerprints import Fingerprint, fingerprint
from apps.postings.algorithms.words import STOP_MARK, analyse, language_of, sequence
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER

BUCKETS = 1 << 20  # words are told apart by their hashes, so that no dictionary has to grow; few share one
MAX_LENGTH = 6_000  # characters of a text that count: news say first what has happened
IN_TITLE = 3  # a word of the title counts for so many of the text
NAMES = 1.25  # a name counts for so much more than another word
TITLE_CASE = 0.6  # a title with more of its words capitalised does not tell names from others

_REMEMBERED = 100_000  # terms of a language, about 12 MB

Terms = NDArray[np.int32]
Weights = NDArray[np.float32]

# A capitalised word that does not begin a sentence.
_CAPITALISED = re.compile(r"(?<=[\w,;)] )[^\W\d_a-z][\w'’-]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """A posting as numbers."""

    language: str
    terms: Terms  # hashes in [0, BUCKETS), distinct, ascending
    emphasis: Weights  # of each: 1 + ln of its count, for a name a quarter as much again
    fingerprint: Fingerprint  # empty where the words are too few to be told from others


def features(title: str, text: str, declared: str = "") -> Features:
    """The features of a posting.

    Terms of different languages have different hashes: so stories keep to one language, and a word is as rare as it is
    in its own.

    Parameters
    ----------
    title, text : str
        Without markup; of the text the first 6,000 characters count.
    declared : str
        The language its feed names, as "en-US", or "".

    Examples
    --------
    >>> found = features("Storm floods Lisbon", "A storm has flooded the streets of Lisbon.", "en")
    >>> found.terms.size, found.emphasis.max().round(2)
    (4, np.float32(2.98))
    """
    lead = text[:MAX_LENGTH]
    language = language_of(f"{title} {lead}", declared)
    head, head_terms = _words(title, language)
    body, body_terms = _words(lead, language)
    counts = Counter(body_terms)
    for term in head_terms:
        counts[term] += IN_TITLE
    known = _buckets_of(language)
    terms = np.fromiter(map(known.__getitem__, counts), np.int32, len(counts))
    emphasis = 1 + np.log(np.fromiter(counts.values(), np.float64, len(counts)))
    names = _names(title, lead, language)
    emphasis[[term in names for term in terms.tolist()]] *= NAMES
    order = np.lexsort((-emphasis, terms))
    terms, emphasis = terms[order], emphasis[order].astype(np.float32)
    first = np.append(True, terms[1:] != terms[:-1])[: terms.size]  # of terms that share a bucket, the louder one
    words = [item.removeprefix(STOP_MARK) for item in (*head, *body)]
    return Features(language, terms[first], emphasis[first], fingerprint(words))


def _words(text: str, language: str) -> tuple[list[str], list[str]]:
    """Its words in their order, and its terms: without stop words, in scripts without spaces pairs as well."""
    if SPACELESS_CHARACTER.search(text):
        words = analyse(text, language)
        return words.sequence, words.terms
    items = sequence(text, language)
    return items, [item for item in items if item[0] != STOP_MARK]


def _names(title: str, text: str, language: str) -> set[int]:
    words = _WORD.findall(title)
    is_title_case = sum(word[0].isupper() for word in words) > TITLE_CASE * len(words)
    found = _CAPITALISED.findall(text if is_title_case else f"{title}\n{text}")
    spelled = " ".join({word for word in found if word[0].isupper()})
    known = _buckets_of(language)
    return {known[term] for term in _words(spelled, language)[1]}


def bucket_of(term: str, language: str) -> int:
    """The number by which a term of a language is known, in [0, BUCKETS).

    >>> bucket_of("storm", "en") == bucket_of("storm", "de")
    False
    """
    return crc32(f"{language}:{term}".encode()) % BUCKETS


class _Buckets(dict[str, int]):
    """The numbers of terms of one language: a look-up is much quicker than a hash."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, term: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        number = self[term] = bucket_of(term, self._language)
        return number


_buckets: dict[str, _Buckets] = {}  # one of each language that is known


def _buckets_of(language: str) -> _Buckets:
    return _buckets.setdefault(language, _Buckets(language))
