"""Pairs of postings that are one article, and pairs that only look like one.

Copies are made of real reports, with a seed, as they come in feeds:

parameters
    The same address with parameters that track readers; half of them with the first words only.
amp
    An address for phones or of a cache; half of them with the first words only.
mirror
    The same words at another host.
agency
    At another host under another headline: with a dateline, other quotes, some words edited, the end cut off.

Pairs of two articles are reports of one story, articles of one source, and postings that fill in a template. Each
source appends a footer of its own to whatever it publishes.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from lab.evaluations.stories.stream import Labelled

TEASER = 240  # characters
EDITED = 0.015  # share of words that an editor changes
CUT = 0.15  # largest share of words that is cut off at the end
TEMPLATES = 150  # postings of each template
MOST = 1_500  # pairs of each kind
GROUPED = 60  # reports of a story or source that are paired with each other
MIN_WORDS = 40  # of a report that is copied
ONE_TEXT = 0.9  # share of common runs of four words, from which collections hold one article twice

FOOTERS = (
    "Article URL: {url} Comments URL: https://forum.example/item?id={number} Points: {number} # Comments: {number}",
    "Photograph: Getty Images. Most viewed. Sign up to our daily newsletter. Read more on this story.",
    "The post {title} appeared first on {source}. All rights reserved. Contact us | Privacy policy",
    "By our correspondent. Reporting by the newsroom; editing by the desk. {number} min read",
)
FILLED = (
    ("Magnitude {a}.{b} earthquake near {place}", "An earthquake of magnitude {a}.{b} struck {c} km from {place}."),
    ("{place} weather", "Today in {place}: highs of {a} degrees, lows of {b} degrees, {c} percent chance of rain."),
    ("Shares of {place} Corp", "{place} Corp closed at {c}.{a} dollars on Monday, {b} percent above its last close."),
    ("Release {a}.{b}.{c}", "Version {a}.{b}.{c} mends {b} faults, among them one in {place}, and needs a restart."),
)
PLACES = (
    *("Lima", "Osaka", "Izmir", "Quito", "Naples", "Manila", "Athens", "Lisbon", "Jakarta", "Tehran", "Anchorage"),
    *("Santiago", "Wellington", "Kabul", "Mexico City", "Kathmandu", "Reykjavik", "Honolulu", "Padang", "Yerevan"),
)


@dataclass(frozen=True, slots=True)
class Carried:
    """An article as a feed carries it."""

    source: str
    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    kind: str
    are_copies: bool
    one: Carried
    other: Carried


def pairs(reports: Sequence[Labelled], seed: int) -> list[Pair]:
    """Copies of the reports that have a text, and pairs of different articles; footers included."""
    rng = np.random.default_rng(seed)
    carried = [_carried(report, number) for number, report in enumerate(reports)]
    found = [*_copies(carried, rng), *_different(reports, carried, rng), *_filled(rng)]
    return [replace(pair, one=_with_footer(pair.one), other=_with_footer(pair.other)) for pair in found]


def _carried(report: Labelled, number: int) -> Carried:
    name = re.sub(r"[^a-z0-9.]+", "-", report.publisher.lower()).strip("-.") or "news"
    source = name if "." in name else f"{name}.example"
    slug = "-".join(re.findall(r"\w+", report.title.lower())[:6])
    return Carried(source, f"https://www.{source}/news/{number}/{slug}", report.title, report.text)


def _copies(articles: Sequence[Carried], rng: np.random.Generator) -> Iterator[Pair]:
    for article in articles:
        if len(re.findall(r"[^\W\u4e00-\u9fff]+|[\u4e00-\u9fff]", article.text)) < MIN_WORDS:
            continue
        brief = replace(article, text=article.text[:TEASER] + "…")
        host, path = article.source, article.url.split("/", 3)[3]
        tracked = ("utm_source=rss&utm_medium=feed", "fbclid=IwAR0x", "utm_campaign=a&utm_content=b")[rng.integers(3)]
        phones = (
            *(f"https://amp.{host}/{path}", f"https://m.{host}/{path}/", f"https://www.{host}/{path}?amp=1"),
            *(f"https://www.{host}/{path}/amp/", f"https://www-x.cdn.ampproject.org/c/s/www.{host}/{path}"),
        )
        short = [brief if rng.random() < 0.5 else article for _ in range(2)]
        yield Pair("parameters", True, article, replace(short[0], url=f"{article.url}?{tracked}"))
        yield Pair("amp", True, article, replace(short[1], url=phones[rng.integers(len(phones))]))
        other = f"paper{rng.integers(6)}.example"
        copy = replace(article, source=other, url=f"https://{other}/a/{rng.integers(10**9)}")
        yield Pair("mirror", True, article, copy)
        yield Pair("agency", True, article, _rewritten(copy, rng))


def _rewritten(article: Carried, rng: np.random.Generator) -> Carried:
    spaced = " " in article.text.strip()
    words = article.text.split(" ") if spaced else list(article.text)
    kept = words[: len(words) - int(rng.uniform(0, CUT) * len(words))]
    for place in np.flatnonzero(rng.random(len(kept)) < EDITED).tolist():
        kept[place] = words[rng.integers(len(words))]
    text = (" " if spaced else "").join(kept).translate(str.maketrans("'\"", "’”"))
    headline = " ".join(rng.permutation(article.text.split()[:14])[:8]) if spaced else article.text[20:40]
    city = PLACES[rng.integers(len(PLACES))].upper()
    return replace(article, title=headline, text=f"{city} (Agency) — {text}")


def _different(reports: Sequence[Labelled], articles: Sequence[Carried], rng: np.random.Generator) -> Iterator[Pair]:
    by_kind: dict[str, list[tuple[int, int]]] = {"same_story": [], "same_source": []}
    for one, other in _grouped([report.story if report.text else "" for report in reports], rng):
        by_kind["same_story"].append((one, other))
    for one, other in _grouped([report.publisher for report in reports], rng):
        if reports[one].story != reports[other].story:
            by_kind["same_source"].append((one, other))
    for kind, found in by_kind.items():
        for place in rng.permutation(len(found))[:MOST].tolist():
            one, other = (articles[each] for each in found[place])
            if not _is_one_text(one, other):
                yield Pair(kind, False, one, other)


def _grouped(labels: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Pairs of places with the same label; of frequent labels only between some of the places."""
    places = defaultdict[str, list[int]](list)
    for place, label in enumerate(labels):
        if label:
            places[label].append(place)
    for found in places.values():
        yield from combinations(rng.permutation(found)[:GROUPED].tolist(), 2)


def _is_one_text(one: Carried, other: Carried) -> bool:
    first, second = (_runs(f"{each.title} {each.text}") for each in (one, other))
    return len(first & second) >= ONE_TEXT * max(1, len(first | second))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[place : place + 4]) for place in range(max(1, len(words) - 3))}


def _filled(rng: np.random.Generator) -> Iterator[Pair]:
    for number, (title, text) in enumerate(FILLED):
        made = []
        for place in range(TEMPLATES):
            values = dict(zip("abc", rng.integers(1, 99, 3).tolist(), strict=True))
            values["place"] = PLACES[rng.integers(len(PLACES))]
            source = f"template{number}.example"
            article = Carried(source, f"https://{source}/{place}", title.format(**values), text.format(**values))
            made.append(article)
        for one, other in pairwise(made):
            yield Pair("template", False, one, other)


def _with_footer(article: Carried) -> Carried:
    number = sum(article.url.encode()) % 997
    footer = FOOTERS[sum(article.source.encode()) % len(FOOTERS)]
    filled = footer.format(url=article.url, number=number, title=article.title, source=article.source)
    return replace(article, text=f"{article.text}\n{filled}")
