"""The analyser: a text in, its terms, its word sequence and the places of its words out."""

import itertools
import re
from functools import cache
from typing import NamedTuple

from apps.postings.algorithms.memo import Memo
from apps.postings.algorithms.words.folding import folded, letters, lowered
from apps.postings.algorithms.words.languages import base_code, language, language_of_script
from apps.postings.algorithms.words.scripts import (
    ASCII_WORDS,
    SPACELESS_CHARACTER,
    script_of,
    words_and_characters,
)

MAX_TEXT_WORDS = 20_000  # words of a text that are read; what stands behind them is not found
MAX_WORD_LENGTH = 40  # characters of a word that count
STOP_MARK = "_"  # before a stop word in a sequence; no word begins with it, so "own" and "owned" stay apart

_REMEMBERED = 40_000  # spellings per language, about 6 MB


class Words(NamedTuple):
    """What a text consists of.

    `terms` is what the index counts. `sequence` is what phrases, adjacent pairs and exclusions are checked on: every
    word in its order, stemmed and folded as its term, stop words with STOP_MARK before them, characters of scripts
    without spaces one by one. `places` are the first character and the one behind the last of each item of it.
    """

    terms: list[str]
    sequence: list[str]
    places: list[tuple[int, int]]

    @property
    def content(self) -> list[str]:
        """The sequence without its stop words: in it, neighbours are pairs."""
        return [item for item in self.sequence if item[0] != STOP_MARK]


def analyse(text: str, language_code: str) -> Words:
    """The terms, sequence and places of a text's first 20,000 words.

    Words are put in lower case, stemmed by Snowball where it knows the language, and freed of diacritics, in this
    order, for stemmers read accents. Stop words are no terms. Runs of characters of scripts without spaces (Han, kana,
    hangul, Thai, Lao, Khmer, Burmese) give first all their single characters, then all their pairs. A word whose script
    is not the language's goes by the rules of its script. Traditional and simplified Chinese characters stay apart.

    Parameters
    ----------
    text : str
        Without markup.
    language_code : str
        As "en", "zh-TW" or "" (unknown); see `language_of`.

    Examples
    --------
    >>> words = analyse("The Kennedys' élan in Zürich", "en")
    >>> words.terms
    ['kennedi', 'elan', 'zurich']
    >>> words.sequence
    ['_the', 'kennedi', 'elan', '_in', 'zurich']
    >>> words.places[1]
    (4, 12)
    >>> analyse("中国队 won", "zh").terms
    ['中', '国', '队', '中国', '国队', 'won']
    """
    pattern = _pattern(text, language_code)
    matches = list(itertools.islice(pattern.finditer(text), MAX_TEXT_WORDS))
    known = _known(base_code(language_code))
    items = [known[match[0]] for match in matches]
    if "" in items:
        kept = [number for number, item in enumerate(items) if item]
        items, matches = [items[number] for number in kept], [matches[number] for number in kept]
    places = [match.span() for match in matches]
    if SPACELESS_CHARACTER.search(text):
        terms = _terms_with_runs(items, places, [SPACELESS_CHARACTER.match(match[0]) is not None for match in matches])
    else:
        terms = [item for item in items if item[0] != STOP_MARK]
    return Words(terms, items, places)


def sequence(text: str, language_code: str) -> list[str]:
    """The sequence of `analyse` alone, in less than half the time.

    >>> sequence("The Kennedys' élan in Zürich", "en")
    ['_the', 'kennedi', 'elan', '_in', 'zurich']
    """
    found = _pattern(text, language_code).findall(text)
    known = _known(base_code(language_code))
    return [item for item in [known[spelling] for spelling in found[:MAX_TEXT_WORDS]] if item]


def _pattern(text: str, language_code: str) -> re.Pattern[str]:
    if language(language_code).elides:
        return words_and_characters(elided=True)
    return ASCII_WORDS if text.isascii() else words_and_characters(elided=False)


def _terms_with_runs(items: list[str], places: list[tuple[int, int]], are_characters: list[bool]) -> list[str]:
    terms: list[str] = []
    run: list[str] = []
    run_end = -1
    for item, (start, end), is_character in zip(items, places, are_characters, strict=True):
        if run and (not is_character or start != run_end):
            terms += _characters_and_pairs(run)
            run = []
        if is_character:
            run.append(item)
            run_end = end
        elif item[0] != STOP_MARK:
            terms.append(item)
    return terms + _characters_and_pairs(run)


def _characters_and_pairs(run: list[str]) -> list[str]:
    return run + [first + second for first, second in itertools.pairwise(run)]


@cache  # bounded, since there is one code for all unknown languages
def _known(base: str) -> Memo[str]:
    """Items by spelling for one language."""
    return Memo(_REMEMBERED, lambda spelling: _item(spelling, base))


def _item(spelling: str, language_code: str) -> str:
    """The item of a spelling, "" if nothing of it remains."""
    if not spelling.isascii() and SPACELESS_CHARACTER.match(spelling):
        return letters(folded(lowered(spelling, "")))
    rules = language_of_script(script_of(spelling), language_code)
    head, _, ending = lowered(spelling, rules.code).replace("’", "'").partition("'")
    word = letters(head if rules.ends or ending == "s" else head + ending)[:MAX_WORD_LENGTH]
    if word in rules.stop_words:
        return STOP_MARK + folded(word)
    return rules.stem(word)
