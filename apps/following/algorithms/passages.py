"""Highlighted passages: found again after edits, and marked in sanitized HTML.

A passage is stored as by the TextQuoteSelector of the W3C Web Annotation Data Model: its exact words with some before
and after. White space is ignored, because markup and browsers differ in it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from itertools import groupby, takewhile
from typing import NamedTuple

MARK = '<mark class="highlight" data-highlight="{}">'
CONTEXT = 40  # characters before and after a passage
MAX_PLACES = 1_000  # occurrences of a passage that are compared

# Sanitized: no "<" or ">" but those of tags. Formulas are one piece, since they allow no mark inside.
_PIECE = re.compile(r"(<math\b.*?</math>|</?(\w*)[^<>]*+>)|&#?\w{1,31};|[^<&]+|[<&]", re.DOTALL)
_INLINE = re.compile("a|abbr|b|bdi|cite|code|del|em|i|ins|kbd|mark|q|s|small|span|strong|su[bp]|time|u|var|wbr")


class Passage(NamedTuple):
    quote: str
    prefix: str = ""
    suffix: str = ""


class Text:
    """The characters of an article that are seen, without white space, with their places in its HTML."""

    def __init__(self, html: str) -> None:
        self.html = html
        characters: list[str] = []
        self._places: list[tuple[int, int, int]] = []  # start, end, number of the piece of text
        self._spaced: list[str] = []  # each character, after a space if it follows white space
        number, after = 0, ""
        for piece in _PIECE.finditer(html):
            if piece[1]:
                number += 1
                after = after if _INLINE.fullmatch(piece[2] or "") else " "
                continue
            start, end = piece.span()
            is_plain = piece[0][0] != "&"
            for at, character in enumerate(unescape(piece[0]), start):
                if character.isspace():
                    after = " "
                    continue
                characters.append(character)
                self._places.append((at, at + 1, number) if is_plain else (start, end, number))
                self._spaced.append(after + character)
                after = ""
        self.squeezed = "".join(characters)

    def find(self, passage: Passage) -> tuple[int, int] | None:
        """The place of a passage, where most of its surroundings agree; None if it is gone.

        >>> text = Text("<p>One <b>fish</b>, two fish.</p>")
        >>> text.find(Passage("fish")), text.find(Passage("fish", "two ", ".")), text.find(Passage("f ish ,"))
        ((3, 7), (11, 15), (3, 8))
        """
        quote, prefix, suffix = ("".join(part.split()) for part in passage)
        length, best = len(quote), (-1, 0)
        for start in self._starts(quote):
            before, behind = self.squeezed[max(0, start - CONTEXT) : start], self.squeezed[start + length :][:CONTEXT]
            agreeing = _agreeing(before[::-1], prefix[::-1]) + _agreeing(behind, suffix)
            best = max(best, (agreeing, -start))
        return None if best[0] < 0 else (-best[1], length - best[1])

    def _starts(self, quote: str) -> Iterator[int]:
        start = self.squeezed.find(quote) if quote else -1
        for _ in range(MAX_PLACES):
            if start < 0:
                return
            yield start
            start = self.squeezed.find(quote, start + 1)

    def passage(self, place: tuple[int, int]) -> Passage:
        """The passage at a place, with single spaces.

        >>> text = Text("<p>One</p> <p>two  &amp; three</p>")
        >>> text.passage(text.find(Passage("two&")))
        Passage(quote='two &', prefix='One', suffix=' three')
        """
        start, end = place
        whole = self._spaced
        prefix, suffix = "".join(whole[max(0, start - CONTEXT) : start]), "".join(whole[end : end + CONTEXT])
        return Passage("".join(whole[start:end]).strip(), prefix.strip(), suffix)

    def marked(self, passages: Mapping[int, Passage], mark: str = MARK) -> tuple[str, set[int]]:
        """The article with marks around passages, by their numbers; and the numbers of those that are in it.

        Each mark is around text alone, so elements nest as before. Where passages overlap, one mark names all.

        >>> Text("<b>two</b> three").marked({7: Passage("one"), 8: Passage("two th")}, mark="<mark id={}>")
        ('<b><mark id=8>two</mark></b> <mark id=8>th</mark>ree', {8})
        """
        names: dict[int, list[int]] = {}
        found = set()
        for number, passage in passages.items():
            if place := self.find(passage):
                found.add(number)
                for at in range(*place):
                    names.setdefault(at, []).append(number)
        pieces, done = [], 0
        for (_, numbers), run in groupby(sorted(names), lambda at: (self._places[at][2], names[at])):
            for start, end in _joined([self._places[at][:2] for at in run], self.html):
                begin = mark.format(" ".join(map(str, numbers)))
                pieces += [self.html[done:start], begin, self.html[start:end], "</mark>"]
                done = end
        return "".join(pieces) + self.html[done:], found


def _joined(places: Sequence[tuple[int, int]], html: str) -> Iterator[tuple[int, int]]:
    """Places with nothing but white space between them, as one; several characters may have the same place."""
    start, end = places[0]
    for first, last in places[1:]:
        if html[end:first].strip() and first > end:
            yield start, end
            start = first
        end = max(end, last)
    yield start, end


def _agreeing(one: str, other: str) -> int:
    """The length of the common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
