"""Rules in plain fields, which become queries: where an article is, what it contains, what to do with it."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, to_text
from apps.search.algorithms.language.matching import name_words
from apps.search.algorithms.language.trees import quotable

Part = Literal["text", "title", "author"]


class PlainRule(NamedTuple):
    place: str  # "folder:3", "source:17", or "" for all followed sources
    part: Part  # where the words are: in title or text, in the title, or the author's name
    words: tuple[str, ...]  # words and phrases, any of which suffices
    keep: bool = False  # concerns the articles that do not match

    @classmethod
    def read(cls, values: Any) -> "PlainRule":
        """From stored values; raises ValueError."""
        match values:
            case {
                "place": str(place),
                "part": "text" | "title" | "author" as part,
                "words": [*words],
                "keep": bool(keep),
            }:
                return cls(place, part, tidied(map(str, words)), keep)
        raise ValueError("This is not a rule.")

    def query(self) -> str:
        """The rule as a query.

        >>> PlainRule("folder:3", "title", ("storm", "heavy rain")).query()
        'folder:3 intitle:storm,"heavy rain"'
        >>> PlainRule("source:7", "text", ("storm", "heavy rain"), keep=True).query()
        'source:7 -("storm" OR "heavy rain")'
        >>> PlainRule("", "author", ("Ada Lovelace",)).query()
        'is:followed author:"Ada Lovelace"'
        """
        kind, _, number = self.place.partition(":")
        match kind:
            case "folder" | "source":
                where = Filter(kind, (number,))
            case _:
                where = Filter("is", ("followed",))
        found: Filter | Or | Phrase
        if self.part == "text":
            phrases = tuple(Phrase(word) for word in self.words)
            found = Or(phrases) if len(phrases) > 1 else phrases[0]
        else:
            found = Filter("intitle" if self.part == "title" else "author", self.words)
        return to_text(And((where, Not(found) if self.keep else found)))


def tidied(words: Iterable[str]) -> tuple[str, ...]:
    """Words and phrases that can be searched, each once: without quotes, and not only signs.

    >>> tidied([" heavy   rain", '"storm"', "Storm", "…"])
    ('heavy rain', 'storm')
    """
    distinct = {plain.lower(): plain for word in reversed(list(words)) if name_words(plain := quotable(word))}
    return tuple(reversed(distinct.values()))
