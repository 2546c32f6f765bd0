"""Extraction of words and phrases from postings."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.trending.algorithms.stop_words import words_of

MAX_PHRASE_WORDS = 4  # words
MAX_TITLE_LENGTH = 300  # characters of a title that are read, or of a text without one
MAX_LEAD_LENGTH = 500  # characters of a text that are searched for names
MAX_KEY_LENGTH = 100  # characters
MAX_TERMS = 250  # per posting
MAX_JOINTS = 7  # that a term's number can encode
TITLE_CASE = 0.6  # share of capitalised words from which capitals do not mark names

_JOINERS = "-‐‑&"  # join two words without spaces into one
_APART = re.compile(
    r"""[.,:;!?()\[\]{}|/\\"“”„«»…—–•·\n。，、：；！？（）「」『』【】《》〈〉]"""
)  # boundaries of phrases
_DIGIT = re.compile(r"\d")


class Term(NamedTuple):
    """A word or phrase where it occurs in a text."""

    key: str  # stemmed, in lower case, words separated by spaces
    joints: int  # number of spaces and hyphens
    spelling: str  # in the text

    @property
    def number(self) -> int:
        return number_of(self.key, self.joints)


class _Word(NamedTuple):
    key: str
    hyphens: int
    start: int
    end: int
    is_edge: bool  # a phrase can begin and end with it
    is_alone: bool  # it can be a term
    is_name: bool  # capitalised for no other reason
    piece: int  # phrases do not cross pieces


def number_of(key: str, joints: int) -> int:
    """A signed 64-bit hash that identifies a term; its last three bits are the number of joints.

    Hashes need no dictionary, so that results do not depend on the order of counting. The probability that any two of
    100 million terms collide is one in five hundred.

    >>> number_of("world cup", 1) % 8
    1
    """
    hashed = int.from_bytes(blake2b(key.encode(), digest_size=8, person=b"term").digest(), "big", signed=True)
    return hashed - hashed % (MAX_JOINTS + 1) + min(joints, MAX_JOINTS)


def joints_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The joints of terms, at most seven, from their numbers.

    >>> joints_of(np.array([number_of("rain", 0), number_of("world cup", 1)])).tolist()
    [0, 1]
    """
    return numbers & MAX_JOINTS


def terms_of(title: str, text: str, language: str, *, unwanted: Callable[[Term], bool] | None = None) -> list[Term]:
    """The terms of a posting: noun phrases of up to four words of its title, and names in the beginning of its text.

    There is no tagger: phrases neither begin nor end with a stop word, boilerplate, a weekday or a number, and do not
    cross punctuation, verbs of the lists, or stop words other than such as "of". A word that the lists call a verb is a
    name where it is capitalised within text that is not title case. Hyphenated words such as "Covid-19" are one word.
    Of the text only names count; scripts without capitals have none. Without a title the text replaces it.

    Parameters
    ----------
    title, text : str
        Without markup, of which 300 and 500 characters are used.
    language : str
        ISO 639-1, from `language_of`.
    unwanted : callable
        Predicate of terms to ignore; see `filters.unwanted_of`.

    Returns
    -------
    list of Term
        Every occurrence in order, at most 250.

    Examples
    --------
    >>> [term.key for term in terms_of("Bank of America's profit", "", "en")]
    ['bank', 'bank of america', 'bank of america profit', 'america', 'america profit', 'profit']
    >>> [term.spelling for term in terms_of("Storm", "Later the mayor of New Orleans spoke on CNN.", "en")]
    ['Storm', 'New Orleans', 'Orleans', 'CNN']
    >>> [term.spelling for term in terms_of("Storm kills at least 9 in Texas on Thursday", "", "en")]
    ['Storm', 'Texas']
    >>> [term.spelling for term in terms_of("总理访问柏林", "", "zh")]
    ['总理', '总理访问', '总理访问柏林', '访问', '访问柏林', '柏林']
    """
    if not title.strip():
        title, text = text, ""
    title, text = title[:MAX_TITLE_LENGTH], text[:MAX_LEAD_LENGTH]
    found = [*_phrases(_words(title, language), title)]
    for name in _names(_words(text, language)):
        found += _phrases(name, text)
    if unwanted is not None:
        found = [term for term in found if not unwanted(term)]
    return found[:MAX_TERMS]


def _phrases(words: Sequence[_Word], text: str) -> Iterator[Term]:
    for first, word in enumerate(words):
        if not word.is_edge:
            continue
        for last in range(first, min(first + MAX_PHRASE_WORDS, len(words))):
            end = words[last]
            if end.piece != word.piece:
                break
            if not end.is_edge or (first == last and not word.is_alone):
                continue
            inner = words[first : last + 1]
            if not any(each.is_alone or (each.is_name and last > first) for each in inner):
                continue
            key = " ".join([each.key for each in inner])
            if len(key) <= MAX_KEY_LENGTH:
                yield Term(key, last - first + sum([each.hyphens for each in inner]), text[word.start : end.end])


def _names(words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """Runs of names, including stop words between them ("Bank of America")."""
    for _, piece in groupby(words, key=lambda word: word.piece):
        run: list[_Word] = []
        for word in piece:
            is_between = bool(run) and not word.is_edge and run[-1].is_edge
            if word.is_name or is_between:
                run.append(word)
            else:
                yield run
                run = []
        yield run


# --- words of a text --------------------------------------------------------------------------------------------------
def _words(text: str, language: str) -> list[_Word]:
    """The words of a text with their properties; `segments` divides scripts without spaces."""
    analysed = analyse(text, language)
    found = list(_joined(text, language, analysed.sequence, analysed.places))
    rules = _rules(language)
    words: list[_Word] = []
    piece, reached = 0, 0
    shouts = text.isupper()
    has_names = sum(text[start].isupper() for start, *_ in found) <= TITLE_CASE * len(found)
    for start, end, key, hyphens in found:
        is_first = reached == 0 or _APART.search(text, reached, start) is not None
        piece += is_first
        reached = end
        spelling, lower = text[start:end], text[start:end].lower()
        is_acronym = not shouts and len(spelling) > 1 and spelling.isupper()
        is_name = has_names and (is_acronym or (spelling[0].isupper() and not is_first))
        is_stop = key.startswith(STOP_MARK) or not rules.boilerplate.isdisjoint((key, lower))
        is_verb = not is_name and not is_acronym and rules.is_verb(lower)
        is_short = len(spelling) < 3 and spelling.isascii() and not is_acronym
        is_spelt = not _DIGIT.search(spelling) or (spelling[0].isalpha() and len(spelling) > 1)
        is_edge = (
            is_spelt and len(spelling) > 1 and not (is_stop or is_verb or (rules.capital and not spelling[0].isupper()))
        )
        is_weak = rules.is_weak(lower) or (rules.has_endings and lower.endswith("ing") and not is_name)
        is_alone = is_edge and not is_short and not is_weak
        parts = is_verb or (is_stop and bool(rules.between) and lower not in rules.between)
        words.append(_Word(key.lstrip(STOP_MARK), hyphens, start, end, is_edge, is_alone, is_name, piece + parts))
        piece += 2 * parts
    return words


def _joined(
    text: str, language: str, items: Sequence[str], places: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, str, int]]:
    """Start, end, key and hyphens of each word: hyphens join, scripts without spaces are divided, "'s" is dropped."""
    number = 0
    while number < len(items):
        start, end = places[number]
        last = number
        if SPACELESS_CHARACTER.match(text, start):
            while last + 1 < len(items) and places[last + 1][0] == end and SPACELESS_CHARACTER.match(text, end):
                last += 1
                end = places[last][1]
            for first, behind in segments(text[start:end], language):
                word = text[start + first : start + behind]
                yield start + first, start + behind, word, 0
        else:
            while last + 1 < len(items) and _are_joined(text, end, places[last + 1]):
                last += 1
                end = places[last][1]
            if last > number:
                key = "-".join(item.lstrip(STOP_MARK) for item in items[number : last + 1])
                yield start, end, key, last - number
            elif not (start > 0 and text[start - 1] in "'’" and end - start == 1):  # the s of "people's"
                yield start, end, items[number], 0
        number = last + 1


def _are_joined(text: str, end: int, following: tuple[int, int]) -> bool:
    """Whether only a hyphen is between two words, or the point of an abbreviation such as "U.S."."""
    start, behind = following
    if start != end + 1:
        return False
    is_abbreviation = text[end] == "." and behind == start + 1 and (end < 2 or not text[end - 2].isalnum())
    return text[end] in _JOINERS or (is_abbreviation and text[start].isupper())


class _Rules(NamedTuple):
    """The word lists of a language; empty ones for those without."""

    boilerplate: frozenset[str]
    verbs: frozenset[str]
    weak: frozenset[str]
    between: frozenset[str]
    no_verbs: frozenset[str]  # empty for languages other than English
    capital: bool  # whether all nouns begin with one

    def is_verb(self, word: str) -> bool:
        """Whether the lists or an English ending show that a word is no noun."""
        by_ending = len(word) > 4 and self.has_endings and word.endswith(("ed", "ly")) and word not in self.no_verbs
        return by_ending or word in self.verbs

    def is_weak(self, word: str) -> bool:
        """Whether a word, or that of which it is the English plural, says nothing alone."""
        return word in self.weak or (self.has_endings and word.removesuffix("s") in self.weak)

    @property
    def has_endings(self) -> bool:
        return bool(self.no_verbs)


@cache
def _rules(language: str) -> _Rules:
    return _Rules(
        words_of("boilerplate", language) | words_of("calendar", language),
        words_of("verbs", language),
        words_of("weak", language),
        words_of("between", language),
        words_of("no_verbs", language),
        capital=language == "de",
    )


def fold_of(title: str, language: str) -> int:
    """A hash that is equal for near-duplicate titles: the same words in any order, ignoring numbers.

    >>> fold_of("Acme shares rise 3%", "en") == fold_of("Shares of Acme rise 4%", "en")
    True
    """
    words = {word for word in analyse(title[:MAX_TITLE_LENGTH], language).content if not _DIGIT.search(word)}
    joined = " ".join(sorted(words))
    return int.from_bytes(blake2b(joined.encode(), digest_size=8, person=b"fold").digest(), "big", signed=True)


def whole(text: str, language: str) -> Term | None:
    """A whole text as one term; None if it has no words, or too many.

    >>> whole("the Bank of England's", "en").key, whole("Bank of England", "en").key, whole("?", "en")
    ('the bank of england', 'bank of england', None)
    """
    words = _words(text[:MAX_TITLE_LENGTH], language)
    if not 0 < len(words) <= MAX_PHRASE_WORDS:
        return None
    key = " ".join(word.key for word in words)
    joints = len(words) - 1 + sum(word.hyphens for word in words)
    return Term(key, joints, text[words[0].start : words[-1].end])


# --- segments ---------------------------------------------------------------------------------------------------------
MAX_RUN_LENGTH = 20  # characters of an indivisible run that counts as one word

_JAPANESE = re.compile(r"[\u30a1-\u30fa\u30fc-\u30ff]+|[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff]")
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_PARTICLE = re.compile("(?:에서|에게|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도)$")


def segments(run: str, language: str) -> Iterator[tuple[int, int]]:
    """The beginnings and ends of the words in a run of such a script.

    Chinese is divided by jieba's dictionary. In Japanese, runs of kanji and of katakana are words, and hiragana between
    them is grammar. Korean has spaces, so that a run is a word with its particle. A run of any other script (Thai, Lao,
    Khmer, Burmese) is one word if it is short.

    Parameters
    ----------
    run : str
        Consecutive characters of scripts without spaces.
    language : str
        ISO 639-1 of the text, which distinguishes Japanese kanji from Chinese.

    Examples
    --------
    >>> [run[start:end] for run in ["总理访问柏林"] for start, end in segments(run, "zh")]
    ['总理', '访问', '柏林']
    >>> [run[start:end] for run in ["新首相がロンドンで会見"] for start, end in segments(run, "ja")]
    ['新首相', 'ロンドン', '会見']
    >>> [run[start:end] for run in ["대통령이"] for start, end in segments(run, "ko")]
    ['대통령']
    """
    if language == "ja" or _KANA.search(run):
        yield from (match.span() for match in _JAPANESE.finditer(run))
    elif _HANGUL.search(run):
        particle = _PARTICLE.search(run)
        yield 0, particle.start() if particle and particle.start() >= 2 else len(run)
    elif _HAN.search(run):
        import rjieba  # noqa: PLC0415 - it loads its dictionary, which only Chinese needs

        yield from ((start, end) for _, start, end in rjieba.tokenize(run))
    elif len(run) <= MAX_RUN_LENGTH:
        yield 0, len(run)
