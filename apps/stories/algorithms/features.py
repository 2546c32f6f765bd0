"""Features of postings for grouping: their terms, and which of these are names."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.fingerprints import Fingerprint, fingerprint
from apps.postings.algorithms.memo import Memo
from apps.postings.algorithms.segments import ADDRESSES
from apps.postings.algorithms.words import STOP_MARK, analyse, language_of, sequence
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER

BUCKETS = 1 << 20  # terms are hashed, which needs no dictionary; few share a bucket
MAX_LENGTH = 6_000  # characters of a text, since news begin with what happened
IN_TITLE = 3  # count of a word in the title
NAMES = 1.25  # factor of names
TITLE_CASE = 0.6  # share of capitalised words from which a title does not mark names

MIN_TERMS = 3  # different terms of a posting that can be distinguished from others

_REMEMBERED = 40_000  # terms of a language, about 5 MB

Terms = NDArray[np.int32]
Weights = NDArray[np.float32]

# A capitalised word that does not begin a sentence.
CAPITALISED = re.compile(r"(?<=[\w,;)] )[^\W\d_a-z][\w'’-]+")
_WORD = re.compile(r"\w+")
# Titles of postings about several matters, or about none: tickers, round-ups, lists, corrections, vacancies, puzzles.
_LIST = re.compile(
    r"\b(?:live ?(?:updates?|blog|ticker)|as it happened|what we know so far|round-?up|(?:morning|evening|daily|weekly"
    r"|news) (?:briefing|digest|newsletter)|\d+ things|corrections?(?::| and clarifications?)|now hiring|vacancy"
    r"|hints?(?: and|,) answers?|crossword|horoscopes?)"
    r"|直播|早报|晚报|快讯|一周要闻|更正|招聘|星座运势|[\d一二三四五六七八九十]+件事",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """A posting as numbers."""

    language: str
    terms: Terms  # hashes in [0, BUCKETS), distinct, ascending
    emphasis: Weights  # of each: 1 + ln of its count, times NAMES for a name
    fingerprint: Fingerprint  # empty for too few words
    stands_alone: bool = False  # too short, or about several matters: only copies are of its story


def features(title: str, text: str, declared: str = "") -> Features:
    """The features of a posting.

    Terms of different languages have different hashes, so that stories have one language, and rarity is per language.

    Parameters
    ----------
    title, text : str
        Without markup; of the text the first 6,000 characters count, but no addresses.
    declared : str
        The language its feed names, as "en-US", or "".

    Examples
    --------
    >>> found = features("Storm floods Lisbon", "A storm has flooded the streets of Lisbon.", "en")
    >>> found.terms.size, found.emphasis.max().round(2)
    (4, np.float32(2.98))
    """
    lead = ADDRESSES.sub(" ", text[:MAX_LENGTH])
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
    first = np.append(True, terms[1:] != terms[:-1])[: terms.size]  # of terms in one bucket the one with more emphasis
    words = [item[1:] if item[0] == STOP_MARK else item for item in (*head, *body)]
    stands_alone = terms.size < MIN_TERMS or _LIST.search(title) is not None
    return Features(language, terms[first], emphasis[first], fingerprint(words), stands_alone)


def _words(text: str, language: str) -> tuple[list[str], list[str]]:
    """Its words in order, and its terms: without stop words, in scripts without spaces also pairs."""
    if not text.isascii() and SPACELESS_CHARACTER.search(text):
        words = analyse(text, language)
        return words.sequence, words.terms
    items = sequence(text, language)
    return items, [item for item in items if item[0] != STOP_MARK]


def _names(title: str, text: str, language: str) -> set[int]:
    words = _WORD.findall(title)
    is_title_case = sum(word[0].isupper() for word in words) > TITLE_CASE * len(words)
    found = CAPITALISED.findall(text if is_title_case else f"{title}\n{text}")
    spelled = " ".join({word for word in found if word[0].isupper()})
    known = _buckets_of(language)
    return {known[term] for term in _words(spelled, language)[1]}


def bucket_of(term: str, language: str) -> int:
    """The bucket of a term of a language, in [0, BUCKETS).

    >>> bucket_of("storm", "en") == bucket_of("storm", "de")
    False
    """
    return crc32(f"{language}:{term}".encode()) % BUCKETS


@cache
def _buckets_of(language: str) -> Memo[int]:
    return Memo(_REMEMBERED, lambda term: bucket_of(term, language))
