"""Duplicates: one article that several feeds carry, under one address or several, whole or with small changes.

Two postings are one article if their links lead to one page, or if their words are nearly the same. The words are
those of the text without boilerplate: agencies' reports come under another headline in every paper. Where there is
hardly a text, title and text together have to be nearly the same.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from apps.postings.algorithms.fingerprints import Fingerprint, fingerprint, similarity
from apps.postings.algorithms.words.scripts import SPACELESS
from apps.sources.algorithms.addresses import same_page_key

MIN_TEXT = 24  # words: with fewer, the title counts, too
MAX_WORDS = 1_500  # of a text; copies rarely have only later words in common
VALUES = 64
BANDS, BAND = 16, 3  # of three values: 99.4 % of the pairs with a similarity of 0.65 share one
ALIKE = 0.48  # estimated similarity of copies; that of two authors' reports on one story rarely reaches 0.3
LONG = 40  # words; shorter postings, which often only fill in a template, have to be more alike
ALIKE_SHORT = 0.85

_WORD = re.compile(rf"[^\W_{SPACELESS}]+(?:['’][^\W_{SPACELESS}]+)?|[{SPACELESS}]")
_CACHE = re.compile(r"(?:[\w-]+\.)?cdn\.ampproject\.org/[cv]/(?:s/)?|google\.[a-z.]+/amp/(?:s/)?")
_HOST = re.compile(r"^(?:(?:www|m|mobile|amp)\.)+(?=[^/.]+\.)")
_AMP_PATH = re.compile(r"/amp(?=/|$)|[./-]amp(?=\.html?$)|(?<=\w)\.amp$|/(?:index|default)\.(?:html?|php|aspx?)$")
_AMP_PARAMETER = re.compile(r"(?:amp|outputType|output|view|m|mobile)(?:=(?:1|amp|true|mobile|yes))?", re.IGNORECASE)


def page_key(address: str) -> int:
    """64 bits that are equal for addresses of one page, its versions for phones and its copies at AMP included.

    0 without a web address, and for the root of a host, which is not an article.

    >>> page_key("https://amp.news.example/a/amp/?utm_source=rss") == page_key("http://www.news.example/a")
    True
    """
    page = _CACHE.sub("", same_page_key(address), count=1)
    host, slash, rest = _HOST.sub("", page, count=1).partition("/")
    path, _, query = rest.partition("?")
    path = _AMP_PATH.sub("", f"/{path}")
    kept = [pair for pair in query.split("&") if pair and not _AMP_PARAMETER.fullmatch(pair)]
    if not slash or (path in ("", "/") and not kept):
        return 0
    return _bits(f"{host}{path.rstrip('/')}?{'&'.join(kept)}")


@dataclass(frozen=True, slots=True, eq=False)
class Article:
    """What postings are compared by."""

    values: Fingerprint  # empty if there are fewer than six words
    words: int
    page: int  # see `page_key`

    @property
    def bands(self) -> list[int]:
        """Keys, and copies share at least one: of the page, and of each three values of the fingerprint."""
        places = range(0, BANDS * BAND, BAND) if self.values.size else ()
        keys = [_bits(f"{place} {self.values[place : place + BAND].tobytes().hex()}") for place in places]
        return [self.page, *keys] if self.page else keys

    @property
    def fold_key(self) -> int:
        """What a posting without an earlier copy is folded by: equal for equal words, else for one page."""
        return _bits(self.values.tobytes().hex()) if self.values.size else self.page

    def is_copy_of(self, other: "Article") -> bool:
        """Whether two postings are one article.

        >>> text = "The river left its banks on Friday night. Two hundred cellars had to be pumped out by firemen, and "
        >>> text += "trains to Porto do not run before Sunday."
        >>> one, other = article("Storm", text, "https://a.example/1"), article("Flood", text, "https://b.example/2")
        >>> one.is_copy_of(other), one.is_copy_of(article("Storm", "It rains.", "https://a.example/1?utm_source=rss"))
        (True, True)
        """
        if self.page and self.page == other.page:
            return True
        if not self.values.size or not other.values.size:
            return False
        needed = ALIKE if min(self.words, other.words) >= LONG else ALIKE_SHORT
        return similarity(self.values, other.values) >= needed


class Known(NamedTuple):
    """A stored posting that may have copies."""

    id: int
    fold_key: int
    at: datetime  # published
    first_copy: int | None  # known before, if that posting still has the key
    first_at: datetime | None  # when that one was published


def first_copies(known: Sequence[Known], within: timedelta) -> dict[int, int | None]:
    """The first copy of each posting, None for a posting without any.

    A posting is a copy of the first one that came with its key and was published `within` that time of it, and stays
    so: what is published every day in the same words is an article of its own every few days, and lists do not change
    when copies arrive later.

    >>> def at(day): return datetime(2024, 5, day)
    >>> daily = [Known(day, 7, at(day), None, None) for day in range(1, 6)]
    >>> first_copies(daily, timedelta(days=2))
    {1: 1, 2: 1, 3: 1, 4: 4, 5: 4}
    >>> first_copies([Known(1, 7, at(1), None, None), Known(2, 8, at(1), None, None)], timedelta(days=2))
    {1: None, 2: None}
    """
    firsts: defaultdict[int, dict[int, datetime]] = defaultdict(dict)  # by key
    joined: defaultdict[int, list[int]] = defaultdict(list)
    found: dict[int, int | None] = {}
    for each in known:
        if each.first_copy is not None and each.first_at is not None:
            firsts[each.fold_key][each.first_copy] = each.first_at
            found[each.id] = each.first_copy
    settled = set(found.values())
    for each in sorted(known):
        if each.id not in found:
            near = (id for id, at in firsts[each.fold_key].items() if abs(at - each.at) <= within)
            first = next(near, each.id)
            firsts[each.fold_key].setdefault(first, each.at)
            joined[first].append(each.id)
    for first, ids in joined.items():
        found |= dict.fromkeys(ids, first if len(ids) > 1 or first in settled else None)
    return found


def article(title: str, text: str, address: str) -> Article:
    """A posting to be compared; `text` is without boilerplate, an empty `address` identifies no page."""
    words = _words(text)
    if len(words) < MIN_TEXT:
        words = [*_words(title), *words]
    return Article(fingerprint(words, VALUES), len(words), page_key(address))


def restored(values: bytes, words: int) -> Article:
    """An article as it was stored, without its page, which is one of its bands."""
    return Article(np.frombuffer(values, "<u4"), words, 0)


def _words(text: str) -> list[str]:
    return _WORD.findall(text[: 12 * MAX_WORDS].casefold())[:MAX_WORDS]


def _bits(text: str) -> int:
    """64 bits as Postgres' bigint has them; never 0."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) or 1
