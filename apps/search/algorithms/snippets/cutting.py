"""The passage of a text that shows best why it was found, with highlights."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from apps.postings.algorithms.words import Words, analyse
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER

LENGTH = 240  # characters of a snippet, at most
_REPEATED = 0.1  # weight of a word that the passage already has
_BEFORE = 60  # characters before the first highlight, to begin with a sentence


@dataclass(frozen=True, slots=True)
class Piece:
    """Plain text that must be escaped on a page."""

    text: str
    is_marked: bool = False


def marked(text: str, wanted: Collection[str], language: str) -> tuple[Piece, ...]:
    """The whole text with the wanted terms highlighted, as for titles.

    >>> [piece.text for piece in marked("Elections in <b>Peru</b>", {"elect", "peru"}, "en") if piece.is_marked]
    ['Elections', 'Peru']
    """
    return _pieces(text, 0, len(text), [place for place, _ in _hits(analyse(text, language), wanted)])


def snippet(
    text: str, wanted: Mapping[str, float] | Collection[str], language: str, length: int = LENGTH
) -> tuple[Piece, ...]:
    """The passage of at most `length` characters with the most weight of different wanted terms.

    It begins at a sentence if there is one shortly before, otherwise at a word; an ellipsis marks omissions. Among
    equal passages the first is taken, without any hit the beginning.

    `wanted` has terms from `analyse`, with weights or of weight 1. A pair of characters of a script without spaces is
    highlighted where they are adjacent, a single character only if it is in no wanted pair.

    >>> pieces = snippet("Rain fell. In Lima the president spoke. It was late.", {"presid"}, "en", 30)
    >>> [(piece.text, piece.is_marked) for piece in pieces]
    [('…', False), ('In Lima the ', False), ('president', True), (' spoke', False), ('…', False)]
    """
    words = analyse(text, language)
    weights = wanted if isinstance(wanted, Mapping) else dict.fromkeys(wanted, 1.0)
    hits = _hits(words, weights)
    start, end = _stretch(text, words, _window(hits, weights, length), length)
    inside = [place for place, _ in hits if start <= place[0] and place[1] <= end]
    pieces = _pieces(text, start, end, inside)
    dots = (Piece("…"),)
    return (dots if text[:start].strip() else ()) + pieces + (dots if text[end:].strip() else ())


Hit = tuple[tuple[int, int], str]


def _hits(words: Words, wanted: Collection[str]) -> list[Hit]:
    """Places of wanted terms in the text, with the term."""
    spaceless = [term for term in wanted if SPACELESS_CHARACTER.match(term)]
    in_pairs = {term for term in spaceless if any(term in other and term != other for other in spaceless)}
    hits: list[Hit] = []
    for number, (item, place) in enumerate(zip(words.sequence, words.places, strict=True)):
        if spaceless and number + 1 < len(words.places) and words.places[number + 1][0] == place[1]:
            pair = item + words.sequence[number + 1]
            if pair in wanted:
                hits.append(((place[0], words.places[number + 1][1]), pair))
                continue
        if item in wanted and item not in in_pairs:
            hits.append((place, item))
    return hits


def _window(hits: list[Hit], weights: Mapping[str, float], length: int) -> tuple[int, int]:
    """From where to where the best hits stand that fit into the length."""
    best, window = 0.0, (0, 0)
    inside: dict[str, int] = {}
    first = 0
    worth = 0.0
    for (start, end), term in hits:
        worth += weights[term] * (_REPEATED if inside.get(term) else 1)
        inside[term] = inside.get(term, 0) + 1
        while hits[first][0][0] < end - length and hits[first][0][0] < start:
            gone = hits[first][1]
            inside[gone] -= 1
            worth -= weights[gone] * (_REPEATED if inside[gone] else 1)
            first += 1
        if worth > best + 1e-9:
            best, window = worth, (hits[first][0][0], end)
    return window


def _stretch(text: str, words: Words, window: tuple[int, int], length: int) -> tuple[int, int]:
    """The window, widened to the length: back to a sentence or a few words, then on to the last word that fits."""
    start, end = window
    if len(text) <= length:
        return 0, len(text)
    room = max(0, length - (end - start))
    earliest = max(0, start - min(room, _BEFORE))
    begin = _beginning(text, words, earliest, start)
    limit = min(max(begin + length, end), len(text))
    last = max((place[1] for place in words.places if place[1] <= limit), default=limit)
    return begin, len(text) if limit == len(text) else max(end, last)


def _beginning(text: str, words: Words, earliest: int, start: int) -> int:
    if earliest == 0:
        return 0
    starts = [place[0] for place in words.places if earliest <= place[0] <= start]
    for place in starts:
        before = text[max(0, place - 4) : place].rstrip(" \"'“‘«(")
        if before and before[-1] in ".!?。！？…\n":
            return place
    return starts[0] if starts else start


def _pieces(text: str, start: int, end: int, places: list[tuple[int, int]]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for first, last in _merged(places):
        if first > start:
            pieces.append(Piece(text[start:first]))
        pieces.append(Piece(text[first:last], is_marked=True))
        start = last
    if end > start:
        pieces.append(Piece(text[start:end]))
    return tuple(pieces)


def _merged(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places that overlap, as the two pairs of three characters do, become one."""
    joined: list[tuple[int, int]] = []
    for first, last in places:
        if joined and first < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


# --- spelling ---------------------------------------------------------------------------------------------------------
def spellings(terms: Collection[str], texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The most frequent spelling of each term in texts with language codes, in lower case except for names.

    A term that no text has stays as it is.

    >>> spellings(["elect", "nato", "x"], [("Elections: the election, NATO and elections", "en")])
    {'elect': 'elections', 'nato': 'NATO', 'x': 'x'}
    """
    wanted = set(terms)
    written: dict[str, Counter[str]] = {}
    for text, language in texts:
        words = analyse(text, language)
        for item, (start, end) in zip(words.sequence, words.places, strict=True):
            if item in wanted:
                written.setdefault(item, Counter())[text[start:end]] += 1
    return {term: _usual(written[term]) if term in written else term for term in terms}


def _usual(forms: Counter[str]) -> str:
    """The commonest form, its case aside; a capital that begins a sentence is no name."""
    alike: dict[str, Counter[str]] = {}
    for form, count in forms.items():
        alike.setdefault(form.lower(), Counter())[form] += count
    lower, cases = max(alike.items(), key=lambda pair: (pair[1].total(), pair[0]))
    return lower if cases[lower] else max(cases, key=lambda form: (cases[form], form))
