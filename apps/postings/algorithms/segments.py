"""Segments of a posting's text, and the keys by which those of two postings are compared.

Segments are lines, their sentences, a dateline at the beginning, and the first and last words. In keys, numbers,
addresses and the posting's own title are one, and in templates runs of capitalised words, too.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from apps.postings.algorithms.words.scripts import SPACELESS

# Each text is learned from, and then stripped for several purposes.
REMEMBERED, MAX_REMEMBERED = 512, 20_000  # texts, and characters of one
MAX_SEGMENTS = 48  # of longer texts the first 12 and the last 36 count, and their short lines
SHORT_LINE = 12  # words
MAX_TEMPLATE = 14  # words of a segment in which names may differ
EDGE_WORDS = (2, 3, 4, 6, 8)
MAX_DATELINE = 60  # characters
MAX_NAME = 5  # words

CONTEXT_WORDS = 40
CONTEXT_BITS = 512
MIN_TITLE = 8  # characters

_TITLE, _ADDRESS, _NAME = "\x02", "\x03", "\x04"
MASKED = re.compile(f"[{_TITLE}{_ADDRESS}]+")
_LINE = re.compile(r"[^\n]+")
_END = re.compile(r"(?:[.!?…][\"'”’)\]»]*\s+(?![a-z])|[。！？][”’」』）]*)")
_ABBREVIATION = re.compile(r"(?:^|[\s(\"“])(?:[A-Z][a-z]{0,3}|(?:\w\.)+\w|[A-Z]{1,4})\.[\"'”’)\]»]*\s+$")
_DATELINE = re.compile(rf"[^\n.!?:]{{2,{MAX_DATELINE}}}?(?:\([^()\n]+\))?\s*[-–—]+\s")
ADDRESSES = re.compile(r"(?:https?://|www\.)[!-~]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.\w+|(?<!\w)/?[ur]/[\w-]+")
_TOKEN = re.compile(rf"[{_TITLE}{_ADDRESS}{_NAME}]+|\d[\d.,:/]*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SPACELESS = re.compile(f"[{SPACELESS}]")
_SET_OFF = re.compile(r"[^\s\w'’,]")
_WORD = re.compile(rf"[^\W\d_{SPACELESS}]{{4,}}|(?=[{SPACELESS}])\w(?=(\w))")


class Segment(NamedTuple):
    start: int
    end: int
    text: str  # addresses and the title masked
    is_line: bool
    is_dateline: bool
    keys: tuple[tuple[int, str], ...] = ()  # each with its kind


def segments_of(text: str, title: str) -> tuple[Segment, ...]:
    """The segments that count; addresses and the title are masked by as many characters as they have."""
    return _remembered(text, title) if len(text) <= MAX_REMEMBERED else _segments_of(text, title)


def _segments_of(text: str, title: str) -> tuple[Segment, ...]:
    masked = _masked(text, title)
    found = [segment for line in _LINE.finditer(masked) for segment in _of_line(masked, line.start(), line.end())]
    if found and (dateline := _DATELINE.match(masked, found[0].start, found[0].end)):
        first = found[0]
        cut = dateline.end()
        found[0] = Segment(first.start, cut, masked[first.start : cut], False, True)
        found.insert(1, Segment(cut, first.end, masked[cut : first.end], first.is_line, False))
    if len(found) > MAX_SEGMENTS:
        quarter = MAX_SEGMENTS // 4
        middle = [each for each in found[quarter : quarter - MAX_SEGMENTS] if each.is_line and _is_short(each.text)]
        found = [*found[:quarter], *middle, *found[quarter - MAX_SEGMENTS :]]
    return tuple(segment._replace(keys=tuple(_keys(segment))) for segment in found)


_remembered = lru_cache(REMEMBERED)(_segments_of)


def _masked(text: str, title: str) -> str:
    if len(title) >= MIN_TITLE:
        text = text.replace(title, _TITLE * len(title))
    if "/" not in text and "@" not in text and "www." not in text:
        return text
    return ADDRESSES.sub(lambda match: _ADDRESS * len(match[0]), text)


def _is_short(text: str) -> bool:
    return len(text) < SHORT_LINE * 8 and text.count(" ") < SHORT_LINE


def _of_line(text: str, start: int, end: int) -> Iterator[Segment]:
    begun = start
    for match in _END.finditer(text, start, end):
        if match.end() < end and not _ABBREVIATION.search(text, max(begun, match.end() - 12), match.end()):
            yield Segment(begun, match.end(), text[begun : match.end()], False, False)
            begun = match.end()
    if text[begun:end].strip():
        yield Segment(begun, end, text[begun:end], begun == start, False)


def _keys(segment: Segment) -> Iterator[tuple[int, str]]:
    """The key of a segment, and that of its template if it may have names that differ."""
    tokens = _tokens(segment.text)
    if not tokens or (len(tokens) == 1 and not segment.is_line and not _SPACELESS.match(tokens[0])):
        return
    yield _key("", tokens), ""
    if len(tokens) <= MAX_TEMPLATE and (segment.is_dateline or not segment.text[1:].islower()):
        template = _template(segment)
        fixed = [token for token in template if token[0] not in f"{_TITLE}{_ADDRESS}{_NAME}0"]
        if fixed and len(fixed) < len(template) and _NAME in template:
            yield _key("names", template), "names"


def _tokens(text: str) -> list[str]:
    found = _TOKEN.findall(text.casefold())
    return ["0" if token[0].isdigit() else token[:1] if token[0] < " " else token for token in found]


def _template(segment: Segment) -> list[str]:
    """Its tokens, runs of up to five capitalised words as one; its first word is no name, unless a dateline's."""
    bracket = segment.text.find("(") if segment.is_dateline else len(segment.text)
    found: list[str] = []
    run = 0
    for number, match in enumerate(_TOKEN.finditer(segment.text)):
        token = match[0]
        is_name = token[0].isupper() and (segment.is_dateline or number > 0) and match.start() < bracket
        run = run + 1 if is_name else 0
        if not is_name:  # other letters may become several tokens in small ones
            found += [token.lower()] if token.isascii() and token.isalpha() else _tokens(token)
        elif run % MAX_NAME == 1:
            found.append(_NAME)
    return found


def edges(segments: list[Segment]) -> Iterator[tuple[int, str, Segment]]:
    """The first and the last words of a text, the longest last."""
    if not segments:
        return
    first, last = segments[0], segments[-1]
    heads = list(islice(_TOKEN.finditer(first.text), EDGE_WORDS[-1] + 1))
    tails = list(_TOKEN.finditer(last.text))
    for size in EDGE_WORDS:
        # Only what a mark sets off: sentences that begin with the same words would lose them.
        if len(heads) > size and _SET_OFF.search(first.text, heads[size - 1].end(), heads[size].start()):
            cut = heads[size].start()
            yield _edge("head", Segment(first.start, first.start + cut, first.text[:cut], False, False))
        if len(tails) > size:
            cut = tails[-size].start()
            yield _edge("tail", Segment(last.start + cut, last.end, last.text[cut:], False, False))


def _edge(kind: str, phrase: Segment) -> tuple[int, str, Segment]:
    return _key(kind, _tokens(phrase.text)), kind, phrase


def _key(kind: str, tokens: list[str]) -> int:
    return crc32(f"{kind}\n{' '.join(tokens)}".encode("utf-8", "surrogatepass"))


def words_of(title: str, texts: Iterable[str], raw: str) -> int:
    """A set of bits for the first words of a title and of texts; for the addresses in `raw` if there are no words."""
    found: list[str] = [match[0] + (match[1] or "") for match in _WORD.finditer(title.casefold())]
    for text in texts:
        if len(found) >= 2 * CONTEXT_WORDS:
            break
        found += [match[0] + (match[1] or "") for match in _WORD.finditer(text.casefold())]
    bits = 0
    for word in list(dict.fromkeys(found or ADDRESSES.findall(raw)))[:CONTEXT_WORDS]:
        bits |= 1 << crc32(word.encode("utf-8", "surrogatepass")) % CONTEXT_BITS
    return bits


def containment(words: int, context: int) -> float:
    """The share of words that a context has, beyond what chance explains; 1 for no words."""
    if not words:
        return 1.0
    count, held = words.bit_count(), (words & context).bit_count()
    if held < min(2, count):
        return 0.0  # of a few words, one is found by chance
    filled = context.bit_count() / CONTEXT_BITS
    return (held / count - filled) / max(1 - filled, 0.01)
