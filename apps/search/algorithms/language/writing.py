"""Write a tree as a query."""

import re

from apps.search.algorithms.language.trees import BLANK, PARENTHESES, QUOTES, And, Filter, Not, Or, Phrase, Tree, Word

_NEEDS_QUOTES = re.compile(f"[{BLANK}{QUOTES}{PARENTHESES}|,]")


def to_text(tree: Tree) -> str:
    """The query that `parse` reads as this tree, with all parentheses that avoid doubt.

    >>> to_text(And((Word("paris"), Or((Word("talks"), Phrase("climate summit"))), Not(Filter("lang", ("de", "fr"))))))
    'paris (talks OR "climate summit") -lang:de,fr'
    """
    match tree:
        case And(parts):
            return " ".join(_enclosed(part) for part in parts)
        case Or(parts):
            return " OR ".join(_enclosed(part) for part in parts)
        case Not(part):
            return "-" + _enclosed(part)
        case Phrase(text):
            return f'"{text}"'
        case Filter(field, values):
            return f"{field}:{','.join(_value(value) for value in values)}"
        case Word(text):
            return text


def _enclosed(tree: Tree) -> str:
    return f"({to_text(tree)})" if isinstance(tree, And | Or) else to_text(tree)


def _value(value: str) -> str:
    return f'"{value}"' if _NEEDS_QUOTES.search(value) else value
