"""What is replayed while parts of the portal die, and who waits for it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from apps.accounts.models import User
from apps.alerts import actions as alerts
from apps.alerts.actions.rules import set_rule
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from lab.worlds.actions import add_feeds
from lab.worlds.addresses import Addresses
from lab.worlds.faults import Fault, choose_faults
from lab.worlds.feed import Feed
from lab.worlds.loading import DAY, Loaded, Wanted, load
from lab.worlds.receivers import Receiver
from lab.worlds.server import Setup

SPEED = 7_200.0  # recorded seconds per second: two hours
HISTORY_DAYS = 0.5  # it passes within six seconds, while sources are asked for the first time
LEAD = HISTORY_DAYS * DAY / SPEED  # s until the first day begins
ASKED_EVERY = 2.0  # s, at most, of each source
FAULTY = 0.25  # share of the sources
SLOWNESS = 2.0  # s that a slow source takes
WINDOW = 200  # postings in a feed, so that an outage of some seconds pushes nothing out
QUERIES = ("ministry", "court OR library", '"city council"', "astronomers -harbour", "(bank OR union) weather")


def setup(sources: int, seconds: float, seed: int) -> Setup:
    """What the record says about the replay: all that is needed to do it again."""
    return {
        "synthetic": sources,
        "days": seconds * SPEED / DAY,
        "history_days": HISTORY_DAYS,
        "seed": seed,
        "faults": FAULTY,
        "window": WINDOW,
        "began": datetime.now(UTC).timestamp(),
    }


def feeds_of(given: Setup) -> Loaded:
    return load(
        Wanted(
            synthetic=int(given["synthetic"] or 0),
            items=None,
            sources=None,
            good=False,
            begin=None,
            days=float(given["days"] or 0),
            history_days=float(given["history_days"] or 0),
            seed=int(given["seed"] or 0),
        ),
        lambda lines: lines,
    )


def faults_of(feeds: Sequence[Feed], given: Setup) -> dict[int, Fault]:
    """Which sources are faulty. None is gone for good: what a dying worker had read of it could not be read again."""
    chosen = choose_faults((feed.number for feed in feeds), float(given["faults"] or 0), int(given["seed"] or 0))
    return {source: fault for source, fault in chosen.items() if fault is not Fault.GONE}


def add_sources(feeds: Sequence[Feed], addresses: Addresses) -> None:
    add_feeds(feeds, addresses, speed=SPEED, min_gap=round(ASKED_EVERY * SPEED), now=datetime.now(UTC))


def add_people(web: Receiver | None = None) -> None:
    """Each keeps one search, and is told of what it finds by a webhook, if there is one."""
    now = datetime.now(UTC)
    for number, query in enumerate(QUERIES):
        user = User.objects.create(username=f"person{number}")
        saved = save_search(user, f"search {number}", query, order=SavedSearch.Order.NEWEST, now=now)
        if web is not None:
            set_rule(user, saved.pk, webhook_url=web.url(f"/hook/{number}"))
    while (prepared := alerts.prepare()) and prepared.changes:
        pass
