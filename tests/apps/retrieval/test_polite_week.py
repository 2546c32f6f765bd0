"""A week with a publisher who keeps the score that the operators of feeds keep of us."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.politeness import Limits, Memory
from apps.retrieval.http.fetching import Failure, Fetched, Validators
from apps.retrieval.http.results import Assignment, decide
from apps.retrieval.planner.due_times import Next
from apps.sources.formats.feed import UpdateHints

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
WEEK = timedelta(days=7)
HOUR = timedelta(hours=1)


@dataclass
class Publisher:
    """Publishes every few hours, breaks at times, and notes every request that it did not deserve."""

    behaviours: list[str]  # of its answers, in turn
    validators: list[tuple[str, str]]  # that it offers, in turn; either may be ""
    ttl: int  # minutes
    skip_hours: list[int]
    period: timedelta  # between two postings
    complaints: list[str] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    held: tuple[str, str] = ("", "")  # what it offered with the latest whole feed
    quiet_until: datetime = BEGIN
    has_offered: bool = False
    has_shown_its_feed: bool = False
    shown: bytes = b""
    repeats: int = 0

    def answer(self, sent: Validators, now: datetime) -> Fetched:
        self._keep_the_score((sent.etag, sent.last_modified), now)
        behaviour = self.behaviours[len(self.times) % len(self.behaviours)]
        self.times.append(now)
        failing = self._failure(behaviour, now)
        if failing:
            return failing
        if any(self.held) and self.held == self._validators(now):
            return Fetched("", now, 304, self._headers(behaviour, now, ("", "")))
        self.held = self._validators(now)
        self.has_shown_its_feed = True
        self.has_offered = self.has_offered or any(self.held)
        body = self._feed(now)
        self.repeats, self.shown = self.repeats + 1 if body == self.shown else 0, body
        if not self.has_offered:  # then the same bytes over and over are a burden
            self.quiet_until = max(self.quiet_until, now + min(HOUR * (1 + self.repeats / 4), timedelta(days=1)))
        return Fetched("", now, 200, self._headers(behaviour, now, self.held), body)

    def _keep_the_score(self, sent: tuple[str, str], now: datetime) -> None:
        if self.times and now - self.times[-1] < HOUR:
            self.complaints.append(f"asked after {now - self.times[-1]}")
        if now < self.quiet_until:
            self.complaints.append(f"asked {self.quiet_until - now} too early")
        if self.has_shown_its_feed and now.hour in self.skip_hours:
            self.complaints.append(f"asked in the skipped hour {now.hour}")
        if sent != self.held:
            self.complaints.append(f"was sent {sent}, having offered {self.held}")

    def _failure(self, behaviour: str, now: datetime) -> Fetched | None:
        if behaviour == "timeout":
            return Fetched("", now, failure=Failure("timeout", "No answer."))
        if behaviour == "page":
            return Fetched("", now, 200, {"etag": '"page"', "last-modified": "never"}, b"<html>Sorry</html>")
        if behaviour == "busy":
            self.quiet_until = now + timedelta(hours=5)
            return Fetched("", now, 429, {"retry-after": "18000"})
        if behaviour == "broken":
            return Fetched("", now, 500, {"etag": '"error"'})
        return None

    def _validators(self, now: datetime) -> tuple[str, str]:
        edition = (now - BEGIN) // self.period
        etag, last_modified = self.validators[edition % len(self.validators)]
        return etag and f"{etag}{edition}", last_modified and f"{last_modified}{edition}"

    def _headers(self, behaviour: str, now: datetime, validators: tuple[str, str]) -> dict[str, str]:
        headers = dict(zip(("etag", "last-modified"), validators, strict=True))
        if behaviour == "fresh":
            self.quiet_until = max(self.quiet_until, now + timedelta(hours=3))
            headers["cache-control"] = "max-age=10800"
        return {name: value for name, value in headers.items() if value}

    def _feed(self, now: datetime) -> bytes:
        skipped = "".join(f"<hour>{hour}</hour>" for hour in self.skip_hours)
        edition = (now - BEGIN) // self.period
        item = f"<item><title>News {edition}</title><guid>{edition}</guid></item>"
        return (
            f'<rss version="2.0"><channel><title>News</title><ttl>{self.ttl}</ttl>'
            f"<skipHours>{skipped}</skipHours>{item}</channel></rss>"
        ).encode()


def live_a_week(publisher: Publisher, interval: timedelta, jitter: float) -> None:
    assignment = Assignment(
        source_id=1,
        sequence=1,
        url="https://news.example/feed",
        due_at=BEGIN,
        dispatched_at=BEGIN,
        started_at=BEGIN,
        validators=Validators(),
        body_hash=b"",
        memory=Memory(),
        hints=UpdateHints(),
        failing_since=None,
        followers=3,
        clock_rate=1.0,
        limits=Limits(),
        nameless=False,
    )
    now = BEGIN
    while now < BEGIN + WEEK:
        visit = decide(replace(assignment, started_at=now), publisher.answer(assignment.validators, now), jitter=jitter)
        assignment = replace(
            assignment,
            validators=visit.validators,
            body_hash=visit.read.body_hash,
            memory=visit.verdict.memory,
            hints=visit.hints,
        )
        due_at, _ = visit.due(Next(now + interval, "as the plan wishes", [], Activity()))
        assert due_at is not None
        now = due_at


kinds = st.sampled_from(["well", "well", "fresh", "timeout", "page", "busy", "broken"])
offers = st.lists(
    st.tuples(st.sampled_from(["", 'W/"', "no quotes "]), st.sampled_from(["", "Thu, 01 Jan 2026 ", "some time "])),
    min_size=1,
    max_size=3,
)
publishers = st.builds(
    Publisher,
    behaviours=st.lists(kinds, min_size=1, max_size=9),
    validators=offers,
    ttl=st.integers(1, 300),
    skip_hours=st.lists(st.integers(0, 23), max_size=23, unique=True),
    period=st.integers(1, 30).map(lambda hours: timedelta(hours=hours)),
)


@given(publishers, st.integers(60, 86_400).map(lambda seconds: timedelta(seconds=seconds)), st.floats(0, 0.99))
def test_a_publisher_has_nothing_to_complain_of_in_a_week(publisher, interval, jitter):
    live_a_week(publisher, interval, jitter)
    assert publisher.complaints == []


def test_a_well_behaved_publisher_is_checked_every_hour_and_once_unconditionally():
    publisher = Publisher(["well"], [('"', "Thu, ")], 1, [], timedelta(hours=2))
    live_a_week(publisher, timedelta(seconds=1), jitter=0.0)
    assert publisher.complaints == []
    assert len(publisher.times) == 168
