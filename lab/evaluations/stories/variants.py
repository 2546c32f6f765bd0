"""Harder streams of the same stories: the conditions under which grouping by common words breaks.

Each variant draws its stream from the marked reports with a seed, as `stream.arrivals` does, and changes one thing:

dense
    Everything falls into 72 hours, so that all stories are active at once.
cold
    The first report is the first thing that the portal ever reads: no background, no history of terms.
boilerplate
    Two of three publishers append to each report what they append to all: addresses of the page and of its comments,
    bylines, credits of pictures, requests to share, notes of sponsors, stock tickers.
feed_by_feed
    Reports arrive one feed after the other, as when a list of feeds is imported, with the times of their publication.
mixed
    Live tickers that repeat the headlines of several stories, lists, and reports in other languages lie between the
    stories; each of them is a story of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.evaluations.stories.stream import Arrival, Labelled, arrivals

DENSE_HOURS = 72.0
COLD_HOURS = 96.0
SHARE_WITH_BOILERPLATE = 2 / 3  # of the publishers
TICKERS_PER_REPORT = 0.03
FOREIGN_PER_REPORT = 0.05

_Footer = Callable[[np.random.Generator, str], str]  # what a publisher appends to a report with a title

_FOOTERS: tuple[_Footer, ...] = (
    lambda rng, title: (
        f"Article URL: https://news.example/{rng.integers(10**8)} Comments URL: https://forum.example/item?id="
        f"{rng.integers(10**8)} Points: {rng.integers(1, 400)} # Comments: {rng.integers(0, 200)}"
    ),
    lambda rng, title: (
        "Photograph: Getty Images. Most viewed. Sign up to our daily newsletter. Read more on this story."
    ),
    lambda rng, title: (
        f"By our correspondent. Reporting by the newsroom; editing by the desk. {rng.integers(1, 9)} min read"
    ),
    lambda rng, title: "Share this: Facebook Twitter WhatsApp Email Print. Like this: Like Loading...",
    lambda rng, title: (
        "This post is sponsored. Advertisement. Continue reading the main story. Supported by our partners."
    ),
    lambda rng, title: f"NASDAQ: ABC {rng.uniform(1, 300):.2f} (+{rng.uniform(0, 5):.2f}%) NYSE: XYZ. Quotes delayed.",
    lambda rng, title: f"The post {title} appeared first on our site. All rights reserved. Contact us | Privacy policy",
)

_FOREIGN = (
    ("Rząd zapowiada nowe przepisy o {}", "Minister przedstawił projekt w środę, opozycja żąda poprawek."),
    ("Sejm przyjął ustawę o {}", "Za głosowało 231 posłów, przeciw było 214."),
    ("Regierung kündigt neue Regeln für {} an", "Der Minister stellte den Entwurf am Mittwoch vor."),
    ("Gericht entscheidet über {}", "Das Urteil wird im Herbst erwartet, sagte eine Sprecherin."),
    ("政府宣布新的{}政策", "有关部门星期三公布了草案，公开征求意见。"),
    ("专家谈{}发展前景", "会议在北京举行，来自十个国家的代表出席。"),
)
_SUBJECTS = ("energia", "transport", "szkoły", "Energie", "Verkehr", "Wohnungen", "能源", "交通", "教育", "住房")
_TICKER_TITLES = ("Live updates: {}", "Morning briefing: {}", "{}: what we know so far", "5 things to know: {}")


def dense(reports: Sequence[Labelled], seed: int) -> list[Arrival]:
    """The stream of four weeks, compressed into three days."""
    stream = arrivals(reports, seed)
    rng = np.random.default_rng([seed, 1])
    hours = np.sort(rng.uniform(0, DENSE_HOURS, len(stream)))
    order = rng.permutation(len(stream))
    return [replace(stream[place], hours=float(at)) for place, at in zip(order.tolist(), hours.tolist(), strict=True)]


def cold(reports: Sequence[Labelled], seed: int) -> list[Arrival]:
    """The first four days of a portal, without history and background."""
    stream = arrivals(reports, seed, background=False)
    first = min(arrival.hours for arrival in stream)
    last = max(arrival.hours for arrival in stream)
    scale = COLD_HOURS / max(last - first, COLD_HOURS)
    return [replace(arrival, hours=(arrival.hours - first) * scale) for arrival in stream]


def boilerplate(reports: Sequence[Labelled], seed: int) -> list[Arrival]:
    """The stream of four weeks, with what publishers append to each of their reports."""
    rng = np.random.default_rng([seed, 2])
    footers: dict[str, _Footer | None] = {}
    for publisher in sorted({report.publisher for report in reports}):
        has_footer = rng.random() < SHARE_WITH_BOILERPLATE
        footers[publisher] = _FOOTERS[int(rng.integers(len(_FOOTERS)))] if has_footer else None
    return [
        replace(arrival, text=f"{arrival.text}\n{footer(rng, arrival.title)}".strip())
        if (footer := footers[arrival.publisher])
        else arrival
        for arrival in arrivals(reports, seed)
    ]


def feed_by_feed(reports: Sequence[Labelled], seed: int) -> list[Arrival]:
    """The stream of `cold`, one publisher after the other, and of each the newest first, as feeds list them."""
    stream = cold(reports, seed)
    publishers = sorted({arrival.publisher for arrival in stream})
    order = np.random.default_rng([seed, 3]).permutation(len(publishers)).tolist()
    rank = {publishers[place]: number for number, place in enumerate(order)}
    return sorted(stream, key=lambda arrival: (rank[arrival.publisher], -arrival.hours, arrival.title))


def mixed(reports: Sequence[Labelled], seed: int) -> list[Arrival]:
    """The stream of four weeks, with tickers, lists and other languages in between."""
    stream = arrivals(reports, seed)
    rng = np.random.default_rng([seed, 4])
    marked = [arrival for arrival in stream if arrival.story]
    extra = []
    for number in range(round(len(marked) * TICKERS_PER_REPORT)):
        after = marked[int(rng.integers(len(marked)))]
        near = [each.title for each in marked if 0 <= after.hours - each.hours <= 12]
        chosen = rng.choice(near, min(len(near), int(rng.integers(3, 7))), replace=False).tolist()
        title = _TICKER_TITLES[int(rng.integers(len(_TICKER_TITLES)))].format("; ".join(chosen[:2]))
        extra.append(Arrival(after.hours, title, ". ".join(chosen), after.publisher, f"ticker {number}"))
    for _ in range(round(len(marked) * FOREIGN_PER_REPORT)):
        template, subject = int(rng.integers(len(_FOREIGN))), _SUBJECTS[int(rng.integers(len(_SUBJECTS)))]
        title, text = _FOREIGN[template]
        at = marked[int(rng.integers(len(marked)))]
        story = f"foreign {template} {subject}"
        extra.append(Arrival(at.hours, title.format(subject), text, at.publisher, story))
    return sorted([*stream, *extra], key=lambda each: (each.hours, each.title))


VARIANTS: Mapping[str, Callable[[Sequence[Labelled], int], list[Arrival]]] = {
    "dense": dense,
    "cold": cold,
    "boilerplate": boilerplate,
    "feed_by_feed": feed_by_feed,
    "mixed": mixed,
}
