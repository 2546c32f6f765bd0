"""Learns which shapes of a site's addresses lead to news, to lists, or to nothing of value.

That spares requests, as in Algorithm I of Ai-Times, and ends infinite spaces: a calendar has as many addresses as
there are days, yet they have only a few shapes.
"""

import re
from binascii import crc32
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from apps.retrieval.algorithms.crawl.addresses import is_continuation, page_key
from apps.retrieval.algorithms.crawl.guesses import Likelihoods, guess
from apps.sources.algorithms.addresses import is_tracking_parameter, registrable_domain, resolve, word_breaks

KINDS = ("news", "index", "valueless")
MAX_SIGNATURES = 500  # per site; the sections of further ones are merged
MIN_FETCHES = 20  # pages of one signature, to judge it
USEFUL_SHARE = 0.05  # of them that were news or lists; a signature with less is not worth a request
TESTED_SHARE = 0.02  # of its pages that are fetched nevertheless, should the site have changed
PRIOR_FETCHES = 4.0  # fetches that the guess from an address alone counts for

_ELSEWHERE = "*"  # in the place of a section
_MAX_SECTION_LENGTH = 24  # characters
_MAX_PARAMETERS = 3  # whose names are part of a signature
_SECTION = re.compile(r"[^\W\d_][\w-]*")
_NUMBER = re.compile(r"\d+")
_DATE = re.compile(r"/(?:19|20)\d\d[/_-]?(?:0?[1-9]|1[0-2])(?=[/_-]|[0-3]\d\D|$)")


def signature(url: str) -> str:
    """The shape of an address: of its host, section, depth, last part and parameters; "" for no web address.

    >>> signature("https://www.example.org/politics/2026/05/12/council-votes-to-keep-bridge-4711")
    'politics/5 date slug number'
    >>> signature("https://www.example.org/politics/page/7"), signature("https://shop.example.org/?item=3&size=2")
    ('politics/3 rest', 'shop: /0 item size')
    """
    address = resolve(url)
    if address is None:
        return ""
    segments = [unquote(segment) for segment in address.pathname.split("/") if segment]
    site = registrable_domain(address.hostname)
    subdomain = address.hostname.removesuffix(site).rstrip(".").removeprefix("www")
    section = segments[0].lower() if segments else ""
    if len(segments) == 1 or len(section) > _MAX_SECTION_LENGTH or not _SECTION.fullmatch(section):
        section = _ELSEWHERE if segments else ""
    names = {pair.partition("=")[0].lower() for pair in address.search.removeprefix("?").split("&") if pair}
    parameters = sorted(name for name in names if not is_tracking_parameter(name))[:_MAX_PARAMETERS]
    parts = [f"{section}/{min(len(segments), 8)}", *_traits(url, address.pathname, segments), *parameters]
    return (f"{subdomain}: " if subdomain else "") + " ".join(parts)[:200]


def _traits(url: str, path: str, segments: list[str]) -> list[str]:
    if not segments:
        return []
    if is_continuation(url):
        return ["rest"]
    last = segments[-1]
    breaks = word_breaks(last)
    longest_number = max(map(len, _NUMBER.findall(last)), default=0)
    traits = ["date"] if _DATE.search(path) else []
    traits += ["slug"] if breaks >= 3 else ["words"] if breaks >= 1 else []
    traits += ["number"] if longest_number >= 4 else ["figure"] if longest_number else []
    return traits


class Patterns:
    """Counts of what was found behind the addresses of each signature of one site.

    >>> patterns = Patterns()
    >>> for number in range(20):
    ...     patterns.observe(f"https://example.org/tours/trip-{number}", "valueless")
    >>> patterns.reason_to_skip("https://example.org/tours/trip-21")
    'None of 20 pages with addresses like it were worth reading.'
    """

    def __init__(self, counts: Mapping[str, tuple[int, int, int]] | None = None) -> None:
        self._counts = dict(counts or {})

    @classmethod
    def from_json(cls, value: object) -> "Patterns":
        """The inverse of `to_json`; anything else counts as nothing learned."""
        counts: dict[str, tuple[int, int, int]] = {}
        for shape, numbers in value.items() if isinstance(value, dict) else ():
            if isinstance(numbers, list) and len(numbers) == len(KINDS) and all(type(each) is int for each in numbers):
                counts[str(shape)] = (numbers[0], numbers[1], numbers[2])
        return cls(counts)

    def to_json(self) -> dict[str, Any]:
        return {shape: list(numbers) for shape, numbers in self._counts.items()}

    def observe(self, url: str, kind: str) -> None:
        """Count a fetched page of one of KINDS. A list that leads to no news counts as valueless."""
        numbers = list(self.counts(url))
        numbers[KINDS.index(kind)] += 1
        self._counts[self._shape(url)] = (numbers[0], numbers[1], numbers[2])

    def counts(self, url: str) -> tuple[int, int, int]:
        """How many pages with addresses like this one were news, lists, and without value."""
        return self._counts.get(self._shape(url), (0, 0, 0))

    def prior(self, url: str, text: str = "") -> Likelihoods:
        """How likely each kind of page is behind a link, from its words, its address, and others like it."""
        guessed = guess(url, text)
        news, index, valueless = self.counts(url)
        total = news + index + valueless + PRIOR_FETCHES
        return Likelihoods(
            (news + PRIOR_FETCHES * guessed.news) / total,
            (index + PRIOR_FETCHES * guessed.index) / total,
            (valueless + PRIOR_FETCHES * guessed.valueless) / total,
        )

    def reason_to_skip(self, url: str) -> str:
        """Why a page is not worth a request, as a sentence; "" if it is, or is one of the few that test the rule."""
        news, index, valueless = self.counts(url)
        fetches, useful = news + index + valueless, news + index
        is_test = crc32(page_key(url).encode()) % 10_000 < 10_000 * TESTED_SHARE
        if fetches < MIN_FETCHES or useful >= max(1.0, USEFUL_SHARE * fetches) or is_test:
            return ""
        number = f"Only {useful}" if useful else "None"
        return f"{number} of {fetches:,} pages with addresses like it were worth reading."

    def _shape(self, url: str) -> str:
        shape = signature(url)
        if shape in self._counts or len(self._counts) < MAX_SIGNATURES:
            return shape
        host, colon, rest = shape.rpartition(": ")
        return f"{host}{colon}{_ELSEWHERE}/{rest.partition('/')[2].partition(' ')[0]}"
