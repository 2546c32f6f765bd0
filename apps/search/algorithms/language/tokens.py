"""The tokens of a query: signs, words, phrases and filters, with their places."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from apps.database.registry import gettext_noop
from apps.postings.algorithms.words.languages import base_code
from apps.search.algorithms.language.dates import moment
from apps.search.algorithms.language.errors import BadQuery, shortened
from apps.search.algorithms.language.trees import (
    BLANK,
    FIELDS,
    PARENTHESES,
    QUOTES,
    STATES,
    Field,
    Filter,
    Phrase,
    Word,
    quotable,
)

_BLANKS = re.compile(f"[{BLANK}]*")
_WORD = re.compile(f"[^{BLANK}{QUOTES}{PARENTHESES}|]+")
_VALUE = re.compile(f"[^{BLANK}{QUOTES}{PARENTHESES}|,]*")
_QUOTED = re.compile(f"[{QUOTES}]([^{QUOTES}]*)[{QUOTES}]")
_NEGATION = re.compile(f"-(?=[^{BLANK}{PARENTHESES[1::2]}|])")  # before an operand; a single dash is a word
_FIELD = re.compile(r"([A-Za-z]+):")

# Names of these filters elsewhere.
_MEANT: dict[str, Field] = {
    "feed": "source", "site": "source", "tag": "category", "label": "category", "language": "lang", "by": "author",
    "title": "intitle", "until": "before", "since": "after",
}  # fmt: skip
_EXAMPLES: dict[Field, str] = {
    "source": 'source:guardian or source:"The Guardian"', "folder": "folder:news", "category": "category:science",
    "lang": "lang:en", "author": 'author:"Ada Lovelace"', "intitle": "intitle:election", "before": "before:2026-11-21",
    "after": "after:2026-11-21", "is": "is:unread",
}  # fmt: skip
_NO_VALUE = gettext_noop(
    "“{field}:” at character {place} needs a value right after it, like {example}; to search for "
    "the word, put it in quotation marks."
)
_NO_NEXT_VALUE = gettext_noop(
    "“{field}:” at character {place} needs a value right after its comma, like {example}; to "
    "search for the word, put it in quotation marks."
)
_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)  # whether a date can be read does not depend on the clock

Sign = Literal["(", ")", "OR", "AND", "NOT"]


@dataclass(frozen=True, slots=True)
class Token:
    kind: Sign | Literal["operand"]
    written: str
    at: int
    operand: Word | Phrase | Filter | None = None


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a query in their order; raises `BadQuery`.

    >>> [token.written for token in tokens('-(lang:de|"new york")')]
    ['-', '(', 'lang:de', '|', '"new york"', ')']
    """
    at = _after_blanks(text, 0)
    while at < len(text):
        token = _sign(text, at) or _phrase(text, at) or _filter_or_word(text, at)
        yield token
        at = _after_blanks(text, at + len(token.written))


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _sign(text: str, at: int) -> Token | None:
    character = text[at]
    if character in PARENTHESES:
        return Token("(" if PARENTHESES.index(character) % 2 == 0 else ")", character, at)
    if character == "|":
        return Token("OR", character, at)
    if _NEGATION.match(text, at):
        return Token("NOT", character, at)
    word = _WORD.match(text, at)
    match word and word[0]:
        case "OR" | "AND" | "NOT" as keyword:
            return Token(keyword, keyword, at)
    return None


def _phrase(text: str, at: int) -> Token | None:
    if text[at] not in QUOTES:
        return None
    written, words = _quoted(text, at)
    return Token("operand", written, at, Phrase(words, at))


def _quoted(text: str, at: int) -> tuple[str, str]:
    match = _QUOTED.match(text, at)
    if match is None:
        sentence = gettext_noop("The quotation mark at character {place} is not closed: close it, or remove it.")
        raise BadQuery(sentence, at, text[at])
    words = quotable(match[1])
    if not words:
        sentence = gettext_noop("There is nothing between the quotation marks at character {place}.")
        raise BadQuery(sentence, at, match[0])
    return match[0], words


def _filter_or_word(text: str, at: int) -> Token:
    word = _WORD.match(text, at)
    assert word, "every other character begins a sign or a phrase"
    name = _FIELD.match(text, at)
    if name is None:
        return Token("operand", word[0], at, Word(word[0], at))
    for field in FIELDS:
        if name[1].lower() == field:
            return _filter(text, at, field, name.end())
    if name[0] != word[0]:
        _suggest_filter(name[1], word[0], at)
    return Token("operand", word[0], at, Word(word[0], at))


def _suggest_filter(name: str, written: str, at: int) -> None:
    close = difflib.get_close_matches(name.lower(), FIELDS, n=1, cutoff=0.8)
    meant = _MEANT.get(name.lower()) or (close[0] if close else None)
    if meant:
        sentence = gettext_noop(
            "There is no filter “{name}:” (at character {place}). For the filter write "
            "“{meant}:”; to search for the word, put it in quotation marks."
        )
        raise BadQuery(sentence, at, written, name=name, meant=meant)


def _filter(text: str, at: int, field: Field, behind: int) -> Token:
    values: list[str] = []
    while True:
        if text[behind : behind + 1] and text[behind] in QUOTES:
            written, value = _quoted(text, behind)
        else:
            match = _VALUE.match(text, behind)
            written = value = match[0] if match else ""
        if not value:
            sentence = _NO_NEXT_VALUE if values else _NO_VALUE
            raise BadQuery(sentence, at, text[at:behind], field=field, example=_EXAMPLES[field])
        values.append(_checked(field, value, behind, written))
        behind += len(written)
        if text[behind : behind + 1] != ",":
            break
        behind += 1
    if field in ("before", "after") and len(values) > 1:
        sentence = gettext_noop("“{field}:” at character {place} takes one date, not {number}.")
        raise BadQuery(sentence, at, text[at:behind], field=field, number=len(values))
    return Token("operand", text[at:behind], at, Filter(field, tuple(dict.fromkeys(values)), at))


def _checked(field: Field, value: str, at: int, written: str) -> str:
    """The normalized value."""
    lower = value.lower()
    if field == "is":
        if lower in STATES:
            return lower
        sentence = gettext_noop(
            "“{field}:” needs one of {states} and {last}; “{value}” at character {place} is not one of them."
        )
    elif field == "lang":
        if (code := base_code(value)) not in ("", "und"):
            return code
        sentence = gettext_noop(
            "“{field}:” needs a language code, like en, de or zh; “{value}” at character {place} is not one."
        )
    elif field in ("before", "after"):
        try:
            moment(lower, _ANY_TIME)
        except ValueError:
            sentence = gettext_noop(
                "“{field}:” needs a date like 2026-11-21, 2026-11, 2026, today, yesterday or 7d; "
                "“{value}” at character {place} is not one."
            )
        else:
            return lower
    else:
        return value
    states, last = ", ".join(STATES[:-1]), STATES[-1]
    raise BadQuery(sentence, at, written, field=field, value=shortened(value), states=states, last=last)
