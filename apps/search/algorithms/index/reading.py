"""A posting's words as the index keeps them, still in letters."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from apps.postings.algorithms.words import MAX_TEXT_WORDS, analyse, language_of, sequence
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.search.algorithms.language.matching import name_words

Named = Literal["author", "category"]  # what has a name of its own, beside the posting's words


@dataclass(frozen=True, slots=True)
class Reading:
    """What a posting says."""

    language: str
    sequence: list[str]  # words in their order, stop words with their mark
    title_length: int  # items of the sequence that are of the title
    pairs: list[str]  # terms that are no words of the sequence
    names: list[str]  # words of names, see `name_word`, each name after an empty one

    def items(self) -> Iterator[str]:
        """All that needs a number."""
        yield from self.sequence
        yield from self.pairs
        yield from filter(None, self.names)


def read(title: str, text: str, *, language: str = "", author: str = "", categories: Sequence[str] = ()) -> Reading:
    """Read a posting: title first, then its text without markup.

    Parameters
    ----------
    language : str
        What its feed says it is in.

    Examples
    --------
    >>> read("The vote", "中国 votes", author="A. Sen", language="en")
    Reading(language='en', sequence=['_the', 'vote', '中', '国', 'vote'], title_length=2, pairs=['中国'],
            names=['', 'author:a', 'author:sen'])
    """
    whole = f"{title}\n{text}"
    code = language_of(whole, language)
    heading = sequence(title, code)
    words = (heading + sequence(text, code))[:MAX_TEXT_WORDS]
    names = [*_name("author", author), *(word for category in categories for word in _name("category", category))]
    return Reading(code, words, min(len(heading), MAX_TEXT_WORDS), _pairs(whole, code), names)


def _pairs(text: str, language: str) -> list[str]:
    """Only scripts without spaces have more terms than words, and then those words are among the terms."""
    if not SPACELESS_CHARACTER.search(text):
        return []
    words = analyse(text, language)
    return list((Counter(words.terms) - Counter(words.content)).elements())


def _name(kind: Named, name: str) -> list[str]:
    words = name_words(name)
    return ["", *(name_word(kind, word) for word in words)] if words else []


def name_word(kind: Named, word: str) -> str:
    """A word of a name as it is kept beside terms, none of which has a colon."""
    return f"{kind}:{word}"
