"""Immutable syntax trees of queries.

Trees from `parse` are normalized: no And directly in an And, no Or in an Or, no Not in a Not, and an And or Or has two
parts or more. The one exception is ``And(())``, the empty query.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal, get_args

Field = Literal["source", "folder", "category", "lang", "author", "intitle", "before", "after", "is"]
State = Literal["unread", "starred", "followed"]
FIELDS: tuple[Field, ...] = get_args(Field)
STATES: tuple[State, ...] = get_args(State)  # the values of "is"

QUOTES = '"“”„‟«»＂'  # phones replace straight ones by curly ones
PARENTHESES = "()（）"
# White space, control characters, marks of direction and lone surrogates; joiners and soft hyphens belong to words.
BLANK = r"\s\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff"

_UNQUOTABLE = re.compile(f"[{BLANK}{QUOTES}]+")


@dataclass(frozen=True, slots=True)
class Word:
    """As written, without spaces; the analyser may find one word in it, several, or none."""

    text: str
    at: int = dataclass_field(default=0, compare=False)  # offset in the query, in characters; likewise below


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent words, separated by single spaces."""

    text: str
    at: int = dataclass_field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """One of the values has to match.

    Values of "lang" are codes from `base_code`, of "is" one of STATES, of "before" and "after" one date that
    `moment` reads. A value of "source" or "folder" that is all digits is the number of that source or folder.
    """

    field: Field
    values: tuple[str, ...]
    at: int = dataclass_field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    part: "Tree"
    at: int = dataclass_field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple["Tree", ...]
    at: int = dataclass_field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple["Tree", ...]
    at: int = dataclass_field(default=0, compare=False)


Tree = Word | Phrase | Filter | Not | And | Or


def wanted(tree: Tree) -> tuple[Word | Phrase, ...]:
    """All words and phrases except those under a Not, in their order, for ranking and highlights.

    Values of "intitle" are among them, as phrases.

    >>> wanted(And((Word("paris"), Not(Word("hilton")), Filter("intitle", ("climate summit",)))))
    (Word(text='paris', at=0), Phrase(text='climate summit', at=0))
    """
    return tuple(_wanted(tree))


def _wanted(tree: Tree) -> Iterator[Word | Phrase]:
    match tree:
        case Word() | Phrase():
            yield tree
        case Filter(field="intitle", values=values, at=at):
            yield from (Phrase(value, at) for value in values)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _wanted(part)


def leaves(tree: Tree) -> Iterator[Word | Phrase | Filter]:
    """All leaves, also under a Not, in their order.

    >>> list(leaves(And((Word("paris"), Not(Filter("lang", ("en",)))))))
    [Word(text='paris', at=0), Filter(field='lang', values=('en',), at=0)]
    """
    match tree:
        case Not(part):
            yield from leaves(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield tree


def texts(tree: Tree) -> Iterator[str]:
    """All texts to match with words of postings, also under a Not, in their order.

    >>> list(texts(And((Word("paris"), Not(Phrase("de gaulle")), Filter("intitle", ("a", "b"))))))
    ['paris', 'de gaulle', 'a', 'b']
    """
    for leaf in leaves(tree):
        if not isinstance(leaf, Filter):
            yield leaf.text
        elif leaf.field == "intitle":
            yield from leaf.values


def says_nothing(tree: Tree) -> bool:
    """Whether all that a query looks for are symbols, which no posting has as words.

    >>> says_nothing(Word("%")), says_nothing(And((Word("c"), Word("++")))), says_nothing(And(()))
    (True, False, False)
    """
    words = wanted(tree)
    return bool(words) and not any(character.isalnum() for word in words for character in word.text)


def conditions(tree: Tree) -> Tree:
    """The conditions in an order by relevance: all parts except single words, which only score.

    Words added by feedback can find a posting only if it meets them.

    >>> conditions(And((Word("paris"), Word("talks"), Not(Word("hilton")))))
    Not(part=Word(text='hilton', at=0), at=0)
    >>> conditions(Word("paris"))
    And(parts=(), at=0)
    """
    return _joined(tuple(part for part in parts_of(tree) if not isinstance(part, Word)))


def narrowed(tree: Tree, field: Field, value: str) -> Tree:
    """The query with another filter; quotes in the value become spaces, and an empty value adds none.

    >>> narrowed(Word("paris"), "source", "Le Monde").parts[1]
    Filter(field='source', values=('Le Monde',), at=0)
    """
    added = Filter(field, (quotable(value),))
    parts = parts_of(tree)
    return tree if added in parts or added.values == ("",) else _joined((*parts, added))


def without(tree: Tree, part: Tree) -> Tree:
    """The query without one of its required parts.

    >>> without(And((Word("paris"), Filter("lang", ("en",)))), Filter("lang", ("en",)))
    Word(text='paris', at=0)
    """
    return _joined(tuple(other for other in parts_of(tree) if other != part))


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    """The required parts."""
    return tree.parts if isinstance(tree, And) else (tree,)


def quotable(text: str) -> str:
    """The text for use between quotes: without quotes, and with single spaces.

    >>> quotable(' The “Wire”,  daily')
    'The Wire , daily'
    """
    return _UNQUOTABLE.sub(" ", text).strip()


def _joined(parts: tuple[Tree, ...]) -> Tree:
    return parts[0] if len(parts) == 1 else And(parts)
