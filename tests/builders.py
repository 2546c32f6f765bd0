"""Builders of rows for tests: every argument is optional, and rows share nothing unless a test passes it."""

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.following.models import Folder, Follow, Mark
from apps.postings.algorithms.boilerplate import SourceBoilerplate
from apps.postings.models import Boilerplate, Edition, Posting
from apps.retrieval.algorithms.planner.price import root_mass
from apps.retrieval.algorithms.weekly_profiles.learning import pack_hourly
from apps.retrieval.models import Plan, Retrieval, Schedule, WeeklyProfile
from apps.sources.models import Source

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)

_numbers = count(1)


def a_user(username: str = "", **values: Any) -> User:
    return User.objects.create(username=username or f"person{next(_numbers)}", **values)


def a_source(**values: Any) -> Source:
    number = next(_numbers)
    return Source.objects.create(
        **{"url": f"https://source{number}.example/feed", "title": f"Source {number}"} | values
    )


def a_source_that_repeats(text: str, **values: Any) -> Source:
    """A source of which the portal has learned that all its postings have a text."""
    source, learned = a_source(**values), SourceBoilerplate()
    for title in ("Storm over Lisbon", "Bank raises its rates", "Derby ends in draw", "New vaccine"):
        learned.observe(text, 0.0, title)
    Boilerplate.objects.create(source=source, state=learned.serialize(), keys=[])
    return source


def a_posting(source: Source | None = None, **values: Any) -> Posting:
    """A posting, by default published an hour before noon and retrieved a minute later."""
    number = next(_numbers)
    published_at = values.pop("published_at", NOON - timedelta(hours=1))
    blank = dict.fromkeys(("author", "language", "image_url", "comments_url"), "")
    given = {
        "source": source or a_source(listed=True),
        "identity": blake2b(str(number).encode(), digest_size=16).digest(),
        "link_key": b"",
        "content_hash": bytes(16),
        "text_hash": bytes(16),
        "guid": str(number),
        "url": f"https://source.example/{number}",
        "title": f"Posting {number}",
        "html": f"<p>Words of posting {number}.</p>",
        "text": f"Words of posting {number}.",
        "categories": [],
        "enclosures": [],
        "published_at": published_at,
        "retrieved_at": published_at + timedelta(minutes=1),
    }
    return Posting.objects.create(**blank | given | values)


def some_postings(how_many: int, source: Source | None = None, *, newest_at: datetime = NOON) -> list[Posting]:
    """Postings of one source, a minute apart, the newest first."""
    source = source or a_source(listed=True)
    return [a_posting(source, published_at=newest_at - timedelta(minutes=minute)) for minute in range(how_many)]


def an_edition(posting: Posting, **values: Any) -> Edition:
    given = {"title": posting.title, "html": "<p>Other words.</p>", "text": "Other words.", "replaced_at": NOON}
    return Edition.objects.create(posting=posting, **given | values)


def a_folder(user: User | None = None, name: str = "", parent: Folder | None = None) -> Folder:
    return Folder.objects.create(user=user or a_user(), name=name or f"Folder {next(_numbers)}", parent=parent)


def a_follow(
    user: User | None = None, source: Source | None = None, *, folders: tuple[Folder, ...] = (), **values: Any
) -> Follow:
    """A follow, by default with everything unread."""
    values.setdefault("unread_from", NOON - timedelta(days=3650))
    follow = Follow.objects.create(user=user or a_user(), source=source or a_source(), **values)
    follow.folders.set(folders)
    return follow


def a_mark(user: User, posting: Posting, **values: Any) -> Mark:
    return Mark.objects.create(user=user, posting=posting, **{"changed_at": NOON} | values)


def a_schedule(source: Source | None = None, **values: Any) -> Schedule:
    return Schedule.objects.create(source=source or a_source(), **{"partition": 0, "due_at": NOON} | values)


def a_retrieval(source: Source | None = None, **values: Any) -> Retrieval:
    times = ("due_at", "dispatched_at", "fetched_at", "stored_at")
    given = {name: NOON + timedelta(seconds=second) for second, name in enumerate(times)}
    return Retrieval.objects.create(source=source or a_source(), **given | {"outcome": Retrieval.Outcome.NEW} | values)


def a_profile(source: Source | None = None, hourly: NDArray[np.float64] | None = None, **values: Any) -> WeeklyProfile:
    """By default a posting an hour at any time: at 8 posting-hours it is retrieved every 4 hours."""
    hourly = np.ones(168) if hourly is None else hourly
    given = {
        "hourly": pack_hourly(hourly),
        "weekly": float(hourly.sum()),
        "root_mass": float(root_mass(hourly[None], 168.0)[0]),
        "learned_at": NOON,
    }
    return WeeklyProfile.objects.create(source=source or a_source(), **given | values)


def a_plan(**values: Any) -> Plan:
    """The plan, by default at 8 posting-hours per retrieval."""
    given = {"price": 8.0, "priced_at": NOON, "planned_revision": 1}
    return Plan.objects.update_or_create(pk=1, defaults=given | values)[0]
