"""The replay of a chaos run, and the users with saved searches."""

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
HISTORY_DAYS = 0.5  # replayed in six seconds, during the first checks
LEAD = HISTORY_DAYS * DAY / SPEED  # s until the first day begins
MIN_GAP_SECONDS = 2.0  # between two checks of a source
FAULTY = 0.25  # share of the sources
SLOWNESS = 2.0  # s that a slow source takes
WINDOW = 200  # postings in a feed, so that an outage of some seconds pushes nothing out
QUERIES = (
    "contract OR tender OR petition",
    "dam OR harbour",
    '"at every figure"',
    "bridge -contract",
    "(train OR lawsuit OR coins) decision",
)


def setup(sources: int, seconds: float, seed: int) -> Setup:
    """The parameters of the replay that the record keeps, enough to repeat it."""
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
    """Faulty sources. None is gone for good: a worker that dies could not read the postings it held a second time."""
    chosen = choose_faults((feed.number for feed in feeds), float(given["faults"] or 0), int(given["seed"] or 0))
    return {source: fault for source, fault in chosen.items() if fault is not Fault.GONE}


def add_sources(feeds: Sequence[Feed], addresses: Addresses) -> None:
    add_feeds(feeds, addresses, speed=SPEED, min_gap=round(MIN_GAP_SECONDS * SPEED), now=datetime.now(UTC))


def add_users(web: Receiver | None = None) -> None:
    """Add users with one saved search each, notified by a webhook if `web` is given."""
    now = datetime.now(UTC)
    for number, query in enumerate(QUERIES):
        user = User.objects.create(username=f"person{number}")
        saved = save_search(user, f"search {number}", query, order=SavedSearch.Order.NEWEST, now=now)
        if web is not None:
            set_rule(user, saved.pk, webhook_url=web.url(f"/hook/{number}"))
    while alerts.matching.prepare():
        pass
