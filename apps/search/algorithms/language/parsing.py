"""Parse a query into its tree; errors state their place."""

from dataclasses import dataclass, field

from apps.database.registry import gettext_noop
from apps.search.algorithms.language.errors import BadQuery, shortened
from apps.search.algorithms.language.tokens import Sign, Token, tokens
from apps.search.algorithms.language.trees import And, Filter, Not, Or, Tree, parts_of

MAX_QUERY_LENGTH = 1_000  # characters
MAX_TERMS = 100  # words, phrases and values of filters
MAX_DEPTH = 20  # nested parentheses

_NOTHING = gettext_noop("Enter something to search for.")
_TOO_MANY = gettext_noop(
    "A query can have {most} words, phrases and values; “{word}” at character {place} is one too many."
)


def parse(text: str) -> Tree:
    """The tree of a query, ``And(())`` of an empty one; raises `BadQuery`.

    At most 1,000 characters with 100 words, phrases and values of filters, and 20 nested parentheses.

    >>> parse('climate -"carbon tax"')
    And(parts=(Word(text='climate', at=0), Not(part=Phrase(text='carbon tax', at=9), at=8)), at=0)
    >>> parse("climate lang:english")
    Traceback (most recent call last):
    apps.search.algorithms.language.errors.BadQuery: “lang:” needs a language code, like en, de or zh; “english” at
        character 14 is not one.
    """
    if len(text) > MAX_QUERY_LENGTH:
        sentence = gettext_noop("A query can have {most} characters; this one has {number}.")
        most, number = f"{MAX_QUERY_LENGTH:,}", f"{len(text):,}"
        raise BadQuery(sentence, MAX_QUERY_LENGTH, text[MAX_QUERY_LENGTH:], most=most, number=number)
    reader = _Reader(list(tokens(text)), len(text))
    _check_number_of_terms(reader.tokens)
    if not reader.tokens:
        return And(())
    tree = _all_of(reader)
    if left := reader.take(")"):  # nothing else ends it early
        raise _closes_none(left)
    return tree


@dataclass(slots=True)
class _Reader:
    tokens: list[Token]
    end: int
    next: int = 0
    opened: list[Token] = field(default_factory=list)  # open parentheses

    def take(self, *kinds: Sign) -> Token | None:
        """Consume the next token if it is one of these."""
        token = self.peek()
        if token is None or token.kind not in kinds:
            return None
        self.next += 1
        return token

    def peek(self) -> Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None


def _all_of(reader: _Reader) -> Tree:
    """Required operands, up to a closing parenthesis or the end."""
    parts: list[Tree] = []
    explicit: Token | None = None
    is_doubtful = False
    while True:
        part, has_or = _any_of(reader)
        is_doubtful = is_doubtful or has_or
        parts += parts_of(part)
        if conjunction := reader.take("AND"):
            explicit = explicit or conjunction
        elif (token := reader.peek()) is None or token.kind == ")":
            break
    if explicit and is_doubtful:
        sentence = gettext_noop(
            "AND at character {place} beside OR is ambiguous: put parentheses around what belongs"
            " together, as in (paris AND london) OR rome."
        )
        raise BadQuery(sentence, explicit.at, explicit.written)
    return parts[0] if len(parts) == 1 else And(tuple(parts), parts[0].at)


def _any_of(reader: _Reader) -> tuple[Tree, bool]:
    """Operands joined by OR, and whether there was one."""
    part = _negated(reader)
    parts = [*_alternatives(part)]
    has_or = False
    while reader.take("OR"):
        has_or = True
        parts += _alternatives(_negated(reader))
    return (Or(tuple(parts), parts[0].at), True) if has_or else (part, False)


def _alternatives(tree: Tree) -> tuple[Tree, ...]:
    return tree.parts if isinstance(tree, Or) else (tree,)


def _negated(reader: _Reader) -> Tree:
    first, is_negated = reader.peek(), False
    while reader.take("NOT"):
        is_negated = not is_negated
    part = _operand(reader)
    if not is_negated:
        return part
    return part.part if isinstance(part, Not) else Not(part, first.at if first else part.at)


def _operand(reader: _Reader) -> Tree:
    if opening := reader.take("("):
        return _parenthesised(reader, opening)
    token = reader.peek()
    if token is None or token.operand is None:
        raise _missing_operand(reader)
    reader.next += 1
    return token.operand


def _parenthesised(reader: _Reader, opening: Token) -> Tree:
    reader.opened.append(opening)
    if len(reader.opened) > MAX_DEPTH:
        sentence = gettext_noop("The parenthesis at character {place} is inside {number} others, the maximum depth.")
        raise BadQuery(sentence, opening.at, opening.written, number=MAX_DEPTH)
    tree = _all_of(reader)
    if not reader.take(")"):
        raise _unclosed(opening)
    reader.opened.pop()
    return tree


def _missing_operand(reader: _Reader) -> BadQuery:
    """The error for a sign or the end in place of an operand, by the sign before it."""
    before = reader.tokens[reader.next - 1] if reader.next else None
    token = reader.peek()
    if before is None or before.kind == "(" or before.operand:
        if token is None:
            return _unclosed(before) if before else BadQuery(_NOTHING, reader.end, "")
        if token.kind == ")":
            return _holds_nothing(before) if before else _closes_none(token)
        sentence = gettext_noop("{sign} at character {place} needs a search term before it.")
        return BadQuery(sentence, token.at, token.written, sign=token.written)
    sentence = gettext_noop(
        "{sign} at character {place} needs a search term after it; to search for the word, put it in quotation marks."
    )
    return BadQuery(sentence, before.at, before.written, sign=before.written)


def _closes_none(closing: Token) -> BadQuery:
    sentence = gettext_noop("The parenthesis at character {place} has no opening one: add it, or remove this one.")
    return BadQuery(sentence, closing.at, closing.written)


def _holds_nothing(opening: Token) -> BadQuery:
    sentence = gettext_noop("There is nothing between the parentheses at character {place}.")
    return BadQuery(sentence, opening.at, opening.written)


def _unclosed(opening: Token) -> BadQuery:
    sentence = gettext_noop("The parenthesis at character {place} is not closed: close it, or remove it.")
    return BadQuery(sentence, opening.at, opening.written)


def _check_number_of_terms(read: list[Token]) -> None:
    terms = 0
    for token in read:
        if token.operand:
            terms += len(token.operand.values) if isinstance(token.operand, Filter) else 1
            if terms > MAX_TERMS:
                raise BadQuery(_TOO_MANY, token.at, token.written, most=MAX_TERMS, word=shortened(token.written))
