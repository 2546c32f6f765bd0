"""What a query says, as a tree of small values that never change.

Trees as `parse` gives them have one form for one meaning: no And lies right inside an And, no Or inside an Or, no Not
inside a Not, and an And or Or has two parts or more. The one exception is ``And(())``, the query that asks nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal, get_args

Field = Literal["source", "category", "lang", "author", "intitle", "before", "after", "is"]
State = Literal["unread", "starred", "followed"]
FIELDS: tuple[Field, ...] = get_args(Field)
STATES: tuple[State, ...] = get_args(State)  # the values of "is"

QUOTES = '"“”„‟«»＂'  # phones make curly ones of straight ones
PARENTHESES = "()（）"
# White space, control characters, marks of direction and lone surrogates; joiners and soft hyphens belong to words.
BLANK = r"\s\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff"

_UNQUOTABLE = re.compile(f"[{BLANK}{QUOTES}]+")


@dataclass(frozen=True, slots=True)
class Word:
    """As it was written, without spaces; the analyser may find one word in it, several, or none."""

    text: str
    at: int = dataclass_field(default=0, compare=False)  # where in the query it begins, in characters; so everywhere


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that follow each other, with single spaces between them."""

    text: str
    at: int = dataclass_field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """One of the values has to hold.

    Values of "lang" are codes as `base_code` gives them, of "is" one of STATES, of "before" and "after" one date that
    `moment` reads. A value of "source" that is all digits is the number of the source.
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
    """What a posting may hold that speaks for it: all words and phrases but those under a Not, in their order.

    They are what ranking scores and what is marked in the results. Values of "intitle" are among them, as phrases.

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
    """All that a query names, also under a Not, in its order.

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
    """All that is looked for in words of postings, also under a Not, in its order.

    >>> list(texts(And((Word("paris"), Not(Phrase("de gaulle")), Filter("intitle", ("a", "b"))))))
    ['paris', 'de gaulle', 'a', 'b']
    """
    for leaf in leaves(tree):
        if not isinstance(leaf, Filter):
            yield leaf.text
        elif leaf.field == "intitle":
            yield from leaf.values


def conditions(tree: Tree) -> Tree:
    """What must hold even in an order by relevance: all but the words that stand by themselves, which only score.

    Words added by feedback can find a posting, but never one for which this does not hold.

    >>> conditions(And((Word("paris"), Word("talks"), Not(Word("hilton")))))
    Not(part=Word(text='hilton', at=0), at=0)
    >>> conditions(Word("paris"))
    And(parts=(), at=0)
    """
    return _joined(tuple(part for part in parts_of(tree) if not isinstance(part, Word)))


def narrowed(tree: Tree, field: Field, value: str) -> Tree:
    """The query with one more filter; quotes in the value become spaces, and a value without anything else adds none.

    >>> narrowed(Word("paris"), "source", "Le Monde").parts[1]
    Filter(field='source', values=('Le Monde',), at=0)
    """
    added = Filter(field, (quotable(value),))
    parts = parts_of(tree)
    return tree if added in parts or added.values == ("",) else _joined((*parts, added))


def without(tree: Tree, part: Tree) -> Tree:
    """The query less one of the parts that all have to hold.

    >>> without(And((Word("paris"), Filter("lang", ("en",)))), Filter("lang", ("en",)))
    Word(text='paris', at=0)
    """
    return _joined(tuple(other for other in parts_of(tree) if other != part))


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    """The parts that all have to hold."""
    return tree.parts if isinstance(tree, And) else (tree,)


def quotable(text: str) -> str:
    """As it can stand between quotes: without any, and with single spaces.

    >>> quotable(' The “Wire”,  daily')
    'The Wire , daily'
    """
    return _UNQUOTABLE.sub(" ", text).strip()


def _joined(parts: tuple[Tree, ...]) -> Tree:
    return parts[0] if len(parts) == 1 else And(parts)
