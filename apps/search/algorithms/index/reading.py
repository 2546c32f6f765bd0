"""The analysed words of a posting for the index."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from apps.postings.algorithms.words import MAX_TEXT_WORDS, analyse, language_of, sequence
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.search.algorithms.language.matching import name_words

Named = Literal["author", "category"]  # names indexed beside the posting's words


@dataclass(frozen=True, slots=True)
class Reading:
    language: str
    sequence: list[str]  # words in their order, stop words with their mark
    title_length: int  # items of the sequence from the title
    pairs: list[str]  # terms that are no words of the sequence
    names: list[str]  # words of names, see `name_word`, each name after an empty one


def read(title: str, text: str, *, language: str = "", author: str = "", categories: Sequence[str] = ()) -> Reading:
    """Analyse a posting: title, then its text without markup; `language` is that of its feed.

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
    """Terms beside the words, which only scripts without spaces have."""
    if not SPACELESS_CHARACTER.search(text):
        return []
    words = analyse(text, language)
    return list((Counter(words.terms) - Counter(words.content)).elements())


def _name(kind: Named, name: str) -> list[str]:
    words = name_words(name)
    return ["", *(name_word(kind, word) for word in words)] if words else []


def name_word(kind: Named, word: str) -> str:
    """A word of a name as a term; no other term has a colon."""
    return f"{kind}:{word}"
