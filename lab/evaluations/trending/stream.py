"""A stream of postings with known trends: real headlines at randomly drawn times, among a steady background.

Time stamps of labelled collections are often those of a crawl, a whole story within seconds, and then every story is a
spike. Here titles, publishers and stories are given, and times are drawn.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DAY = 24.0  # h; all times are hours since the stream began, at midnight of a Monday
LENGTH = 28  # days
EVERGREENS_A_DAY = 150
EVERGREEN_PUBLISHERS = 60
BURSTS_A_DAY, BURST_SIZE, BURST_HOURS = 2, 25, 3.0
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EVERGREENS = (
    "Stock market today: what moved on {}",
    "Weather forecast for {}",
    "{} business highlights",
    "Daily horoscope for {}",
    "Morning briefing: {} edition",
    "Currency markets on {}",
    "Traffic report for {} morning",
    "Gas prices on {}",
    "Football fixtures this {}",
    "Oil price on {}",
    "TV listings for {}",
    "Box office report: {}",
    "Police blotter for {}",
    "Lottery numbers drawn on {}",
    "Best deals of {}",
)
WEEKLY = {
    0: ("Monday night results", "Monday motivation: start the week"),
    2: ("Wednesday food section recipes",),
    3: ("Throwback Thursday pictures", "Weekly jobless claims figures"),
    4: ("Friday night scores", "Weekend preview: what to do"),
    5: ("Saturday college matchups",),
    6: ("Sunday talk shows lineup", "Sunday book club choices"),
}
SPAMMERS = (
    "PR Bulletin",
    "Stock Wire Now",
    "Press Direct",
    "Investor Flash",
    "Market Mover Daily",
    "News Dispatch Pro",
)


@dataclass(frozen=True, slots=True)
class Headline:
    title: str
    publisher: str
    story: str


@dataclass(frozen=True, slots=True)
class Item:
    """A headline at a time; a steady one has no story."""

    at: float  # h
    title: str
    publisher: str
    story: str  # empty for the background


@dataclass(frozen=True, slots=True)
class Stream:
    items: tuple[Item, ...]  # by time
    onsets: dict[str, float]  # h, of each story


def make_stream(headlines: Sequence[Headline], *, seed: int, spam: bool) -> Stream:
    """Four weeks: each story breaks once and fades, evergreens and weekly columns come as ever, some publishers shout.

    A story begins between day 3 and day 27; its items come at gamma distributed times, half of them within 4 to 32
    hours. 150 evergreens a day are from the 60 most frequent publishers. With `spam`, twice a day one of six publishers
    sends 25 titles that hardly differ. The same seed gives the same stream.

    Examples
    --------
    >>> stream = make_stream([Headline("Storm hits coast", "Gazette", "storm")] * 5, seed=1, spam=False)
    >>> sum(item.story == "storm" for item in stream.items), 72 < stream.onsets["storm"] < 648
    (5, True)
    """
    generator = random.Random(seed)
    stories: dict[str, list[Headline]] = defaultdict(list)
    for headline in headlines:
        stories[headline.story].append(headline)
    publishers = [name for name, _ in Counter(each.publisher for each in headlines).most_common()]
    onsets: dict[str, float] = {}
    items: list[Item] = []
    for story in sorted(stories):
        onsets[story] = generator.uniform(3 * DAY, 27 * DAY)
        items += _story(stories[story], onsets[story], generator)
    items += _evergreens(publishers[:EVERGREEN_PUBLISHERS], generator)
    items += _columns(publishers, generator)
    if spam:
        items += _bursts(random.Random(seed + 1_000))
    kept = sorted((item for item in items if item.at < LENGTH * DAY), key=lambda item: (item.at, item.title))
    return Stream(tuple(kept), onsets)


def _story(headlines: Sequence[Headline], onset: float, generator: random.Random) -> Iterator[Item]:
    half_life = generator.choice((4.0, 8.0, 16.0, 32.0))
    for each in headlines:
        at = onset + generator.gammavariate(1.3, half_life / 1.1)
        if at % DAY < 6 and generator.random() < 0.7:  # at night, most wait for the morning
            at += 6 - at % DAY + generator.uniform(0, 3)
        yield Item(at, each.title, each.publisher, each.story)


def _evergreens(publishers: Sequence[str], generator: random.Random) -> Iterator[Item]:
    for day in range(LENGTH):
        for _ in range(EVERGREENS_A_DAY):
            title = generator.choice(EVERGREENS).format(WEEKDAYS[day % 7])
            at = day * DAY + 6 + abs(generator.gauss(6, 4)) % 18
            yield Item(at, title, generator.choice(publishers), "")


def _columns(publishers: Sequence[str], generator: random.Random) -> Iterator[Item]:
    for day in range(LENGTH):
        for title in WEEKLY.get(day % 7, ()):
            for _ in range(generator.randint(8, 20)):
                yield Item(day * DAY + generator.uniform(7, 21), title, generator.choice(publishers), "")


def _bursts(generator: random.Random) -> Iterator[Item]:
    """Made-up companies, each in one burst only."""
    syllables = ("vor", "tek", "lum", "zan", "qui", "bro", "xel", "nix", "mer", "dal", "pho", "gri")
    for day in range(LENGTH):
        for _ in range(BURSTS_A_DAY):
            company = " ".join("".join(generator.choices(syllables, k=2)).capitalize() for _ in range(2))
            notice = generator.choice(("Notice", "Alert", "Advisory", "Bulletin"))
            begin = day * DAY + generator.uniform(0, DAY - BURST_HOURS)
            publisher = generator.choice(SPAMMERS)
            for _ in range(BURST_SIZE):
                verb = generator.choice(("rise", "fall", "jump", "slip"))
                title = f"{company} {notice}: shares {verb} after {generator.choice(('quarterly', 'annual'))} filing"
                yield Item(begin + generator.uniform(0, BURST_HOURS), title, publisher, "")
