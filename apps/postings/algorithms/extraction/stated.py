"""What a page states about its article for programs: the element of its body, its text in JSON-LD or in scripts.

Such statements count where they agree with what the page shows, since templates also state wrong ones.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from datetime import datetime
from html import unescape
from itertools import islice
from typing import cast

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.blocks import Block
from apps.postings.algorithms.extraction.choosing import THRESHOLD, Probabilities, Shingle, shingles, words
from apps.postings.algorithms.extraction.metadata import LINKED_DATA, objects_of
from apps.postings.algorithms.extraction.words import EXPRESSIONS, letters
from apps.sources.formats.dates import parse_date
from apps.sources.formats.text import paragraphs

MIN_BODY = 250  # characters
MIN_RAISED = 60  # characters
NAMED = 0.8  # at least, the probability of what is named
SAME = 0.8  # share of the shingles of a text that stand in the same text
LONGER = 1.5  # times the page's text is one that goes on where the page breaks off
MIN_TITLE = 8  # characters
MIN_SENTENCE = 12  # words
MIN_WORDS = 80  # of a body
MAX_BODIES = 3  # in JSON-LD
MAX_CODE = 2_000_000  # characters of a script
MAX_TOKENS = 300_000

_NAMED = "contains(concat(' ', normalize-space(@itemprop), ' '), ' articleBody ')"
_BODIES = etree.XPath(f"//*[{_NAMED}][not(ancestor::*[{_NAMED}])]")
_BOXES = ("aside", "figure", "footer", "form", "nav")  # that contain no text of the body around them
_TAGS = re.compile(r"<[^<>]*>")
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"|\Z)(\s*:)?|[{}\[\]]', re.DOTALL)
_LINES = re.compile(r"\s*\n\s*")


def with_statements(root: etree._Element | None, blocks: Sequence[Block], likely: Probabilities) -> Probabilities:
    """The probabilities of a page's blocks in the light of what it says itself.

    Of a live report only the newest entry counts. Of an element that is named as the article's body the boxes do not,
    and its text, or the one in JSON-LD, decides where it is on the page and what seems to be the article differs.
    """
    if root is None or not blocks:
        return likely
    entry = newest_entry(root)
    if entry is not None:
        return np.where(_inside(blocks, set(entry.iter())), _raised(blocks, likely), 0.0)
    bodies = cast("list[etree._Element]", _BODIES(root))
    if bodies:
        likely = np.where(_inside(blocks, _boxes(bodies)), 0.0, likely)
    named = " ".join(str(text) for body in bodies for text in body.itertext())
    for text in filter(None, (named, *_bodies_in_linked_data(root))):
        shares = _shares(blocks, shingles(words(_TAGS.sub(" ", text))))
        if _differs(shares >= SAME, blocks, likely):
            return np.where(shares >= SAME, _raised(blocks, likely), 0.0)
    return likely


def fuller_body(root: etree._Element | None, shown: str) -> str:
    """The html of an article of which the page shows the beginning or nothing, and states all elsewhere; else ""."""
    if root is None:
        return ""
    known = shingles(words(shown))
    for text in _bodies_in_linked_data(root):
        plain = _TAGS.sub(" ", text)
        common = (known & shingles(words(plain))).total()
        if len(plain) > max(MIN_BODY, LONGER * len(shown)) and common >= SAME * known.total():
            return text if "</p>" in text else paragraphs(_LINES.sub("\n\n", unescape(text)))
    if len(shown) < MIN_BODY:
        return max(_bodies_in_scripts(root), key=len, default="")
    return ""


def _inside(blocks: Sequence[Block], elements: Set[etree._Element]) -> NDArray[np.bool_]:
    return np.array([block.pieces[0][0] in elements for block in blocks], dtype=np.bool_)


def _boxes(bodies: Iterable[etree._Element]) -> Set[etree._Element]:
    """What stands in elements for something else than text."""
    seen: set[etree._Element] = set()
    for box in (box for body in bodies for box in body.iter(*_BOXES) if box is not body):
        seen.update(() if box in seen else box.iter())  # each once, however deep they are nested
    return seen


def _raised(blocks: Sequence[Block], likely: Probabilities) -> Probabilities:
    """Short texts may be times, captions and buttons wherever they stand."""
    return np.where([block.size >= MIN_RAISED for block in blocks], np.maximum(likely, NAMED), likely)


def _differs(stated: NDArray[np.bool_], blocks: Sequence[Block], likely: Probabilities) -> bool:
    """Whether an article's worth of text is stated, and much that is not seems to be the article."""
    sizes = np.array([max(0, block.good) for block in blocks], dtype=np.float64)
    whole, other = sizes[stated].sum(), sizes[~stated & (likely > THRESHOLD)].sum()
    return bool(whole >= MIN_BODY and whole / 2 < other < 2 * whole)


def _shares(blocks: Sequence[Block], bag: Counter[Shingle]) -> NDArray[np.float64]:
    """How much of each block stands in a text; 0 of short ones."""
    own = [shingles(words(block.text)) if block.good >= MIN_RAISED else Counter[Shingle]() for block in blocks]
    return np.array([(each & bag).total() / max(1, each.total()) for each in own])


def _bodies_in_linked_data(root: etree._Element) -> Iterator[str]:
    if any("articleBody" in (each.text or "") for each in root.iter("script") if each.get("type") == LINKED_DATA):
        found = list(objects_of(root))
        if not any("LiveBlogPosting" in str(each.get("@type")) for each in found):  # else they are of its entries
            texts = (each.get("articleBody") for each in found)
            yield from islice((text for text in texts if isinstance(text, str) and len(text) >= MIN_BODY), MAX_BODIES)


# --- data of scripts --------------------------------------------------------------------------------------------------
def _bodies_in_scripts(root: etree._Element) -> Iterator[str]:
    """Texts, as html, of the data that scripts build the page from, where the page's title is among the data."""
    title = letters(root.findtext(".//title") or "")
    for script in root.iter("script"):
        groups = _texts(script.text or "")
        texts = (letters(text) for group in groups.values() for text in group)
        if any(len(text) >= MIN_TITLE and text in title for text in texts):
            for group in groups.values():
                counts = [len(words(_TAGS.sub(" ", text))) for text in group]
                if sum(count for count in counts if count >= MIN_SENTENCE) >= MIN_WORDS:
                    yield "".join(text if "</p>" in text else paragraphs(text) for text in group)


def _texts(code: str) -> dict[tuple[int, str], list[str]]:
    """The texts in the data of a script under each key, those of each depth apart."""
    groups: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    depth, key = 0, ""
    for match in islice(_TOKEN.finditer(code[:MAX_CODE]), MAX_TOKENS):
        text = match[1]
        if text is None:
            depth += 1 if match[0] in "{[" else -1
        elif match[2]:
            key = text
        elif len(text) >= MIN_TITLE:
            with suppress(ValueError):  # of a script that only looks like data
                value = json.loads(f'"{text}"', strict=False)
                groups[depth, key].append(value)
                groups.update(_texts(value) if value[0] in "{[" else {})  # the argument of JSON.parse
    return groups


# --- live pages -------------------------------------------------------------------------------------------------------
MIN_ENTRIES = 3
_MAX_TIMES = 500
_MAX_STEPS = 8  # from a time outwards to its entry
_END = re.compile(r'"coverageEndTime"\s*:\s*"([^"]+)"')


def newest_entry(root: etree._Element | None) -> etree._Element | None:
    """The element of the newest entry by the times that the entries state; None on other pages.

    A page is a live report if its JSON-LD or the names of the elements around its entries say so, and until the
    coverage has ended: then all of it is an article.
    """
    lists = _lists_of_times(root) if root is not None else []
    if not lists or root is None:
        return None
    data = next((each.text for each in root.iter("script") if "LiveBlogPosting" in (each.text or "")), "") or ""
    if not data:
        lists = [entries for entries in lists if EXPRESSIONS["live"].search(_names(next(iter(entries))))]
    entries: dict[etree._Element, datetime] = max(lists, key=len) if lists else {}
    newest = max(entries, key=lambda entry: entries[entry], default=None)
    end = _END.search(data)
    ended = parse_date(end[1]) if end else None
    return None if newest is not None and ended is not None and ended <= entries[newest] else newest


def _lists_of_times(root: etree._Element) -> list[dict[etree._Element, datetime]]:
    """Neighbours of the same kind, each with the first time that stands in it."""
    found: defaultdict[etree._Element, dict[etree._Element, datetime]] = defaultdict(dict)
    for element in islice(root.iter("time"), _MAX_TIMES):
        when = parse_date(element.get("datetime") or "")
        around = islice(element.iterancestors(), _MAX_STEPS)
        for parent in around if when is not None else ():
            assert when is not None
            found[parent].setdefault(element, when)
            element = parent
    return [entries for entries in found.values() if len(entries) >= MIN_ENTRIES and len({e.tag for e in entries}) == 1]


def _names(entry: etree._Element) -> str:
    return " ".join(f"{each.get('class') or ''} {each.get('id') or ''}" for each in (entry, *entry.iterancestors()))
