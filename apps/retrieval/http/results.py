"""Decisions about the response of one retrieval; nothing here requests or writes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b

from apps.retrieval import sandbox
from apps.retrieval.algorithms.politeness import Limits, Memory, ResponseFacts, Verdict, judge, next_due_time
from apps.retrieval.algorithms.reading import IndexReading, read_index
from apps.retrieval.http.fetching import Fetched, Validators
from apps.retrieval.models import Retrieval
from apps.retrieval.planner.due_times import OBSERVING, POLITENESS, Next
from apps.sources import kinds
from apps.sources.algorithms.hubs import Announcer, discover
from apps.sources.formats.feed import Follow, NotAFeed, Page, ParsedFeed, UpdateHints
from apps.sources.formats.recipes import Recipe

Outcome = Retrieval.Outcome


@dataclass(frozen=True, slots=True)
class Assignment:
    """A source that a worker has begun to retrieve, with its schedule state."""

    source_id: int
    sequence: int
    url: str
    due_at: datetime  # for the first time
    dispatched_at: datetime
    started_at: datetime
    validators: Validators
    body_hash: bytes
    memory: Memory
    hints: UpdateHints
    failing_since: datetime | None
    followers: int
    clock_rate: float
    limits: Limits
    nameless: bool  # the source's title or page is not known yet
    is_first: bool = False  # it was never observed
    kind: str = kinds.DEFAULT
    recipe: Mapping[str, str] = field(default_factory=dict)
    site_id: int | None = None  # of an index page
    full_text: bool = False  # pages of teasers are fetched
    expiry_days: int | None = None  # older items are not stored
    origin: str = Retrieval.Origin.PLAN


@dataclass(frozen=True, slots=True)
class Read:
    """The content of a response."""

    outcome: Outcome
    message: str
    body_hash: bytes  # to store
    feed: ParsedFeed | None = None
    index: IndexReading | None = None  # of a crawled page
    is_feed: bool = False  # or of the expected kind: its validators count
    next_url: str = ""  # a further page to fetch first, by a recipe


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The result of a retrieval and the verdict of politeness; the plan decides on the next due time."""

    assignment: Assignment
    fetched: Fetched
    read: Read
    verdict: Verdict
    announcer: Announcer | None  # None: as before
    validators: Validators
    hints: UpdateHints
    jitter: float  # in [0, 1): spreads sources that would otherwise stay in step

    @property
    def deferred(self) -> bool:
        """No request was sent, since others were waiting for the same host."""
        return self.fetched.failure is not None and self.fetched.failure.retry_after is not None

    @property
    def observed(self) -> bool:
        """Whether it showed the source's content."""
        return self.read.outcome in OBSERVING

    @property
    def earliest(self) -> datetime:
        """The first due time that politeness and the feed's ttl allow."""
        if self.deferred:
            return self.verdict.not_before
        return next_due_time(
            self.fetched.received_at,
            self.verdict.not_before,
            UpdateHints(ttl=self.hints.ttl),
            self.assignment.limits,
            since=self.assignment.started_at,
            jitter=0.0,
        )

    @property
    def demanded(self) -> datetime:
        """The same, by the response alone: without the default minimum gap, which may change before that time."""
        is_usual = self.verdict.is_usual and self.earliest == self.verdict.not_before
        return self.fetched.received_at if is_usual and self.observed else self.earliest

    def due(self, planned: Next | None) -> tuple[datetime | None, str]:
        """The next due time, or None for never again, and the reason for display.

        Without a plan, as there is no profile yet or no request was sent, as soon as politeness allows.
        """
        if self.verdict.gone:
            return None, self.verdict.reason
        if self.deferred:
            return self.verdict.not_before, self.verdict.reason
        best, reason = (planned.at, planned.reason) if planned else (self.earliest, POLITENESS)
        limits = self.assignment.limits
        if reason == POLITENESS:
            reason = self.verdict.reason
            if self.earliest > self.verdict.not_before:
                reason = (
                    f"the feed asks for no check within {min(self.hints.ttl or 0, limits.longest_hint):.0f} s (ttl)"
                )
        allowed = max(best, self.earliest)
        due_at = next_due_time(
            allowed, allowed, self.hints, limits, since=self.assignment.started_at, jitter=self.jitter
        )
        if due_at > allowed + timedelta(seconds=limits.jitter):
            reason = "the feed asks for no check before that time (skipHours, skipDays)"
        return due_at, reason


def decide(assignment: Assignment, fetched: Fetched, *, jitter: float, read: Read | None = None) -> FetchResult:
    """Decide on a response: its content, the validators to store, and when politeness allows the next request.

    It is parsed here unless it was parsed before.
    """
    read = read or parse_response(assignment, fetched)
    hints = read.feed.hints if read.feed else assignment.hints
    facts = ResponseFacts(
        status=fetched.status,
        headers=fetched.headers,
        retry_after=fetched.failure.retry_after if fetched.failure else None,
        permanent_url=fetched.permanent_url,
        is_feed=read.is_feed,
        size=fetched.wire_bytes,
        repeated=fetched.status == 200 and read.is_feed and read.body_hash == assignment.body_hash,
    )
    verdict = judge(facts, assignment.memory, assignment.limits, now=fetched.received_at)
    return FetchResult(
        assignment=assignment,
        fetched=fetched,
        read=read,
        verdict=verdict,
        announcer=_announcer(assignment, fetched, read),
        validators=Validators() if verdict.new_url else _validators(assignment, fetched, is_feed=read.is_feed),
        hints=hints,
        jitter=jitter,
    )


def parse_response(assignment: Assignment, fetched: Fetched, further: Sequence[Fetched] = ()) -> Read:
    """Parse a response; `further` are those of the pages that a recipe has led to so far."""
    unread = assignment.body_hash
    if fetched.failure:
        return Read(_FAILURES.get(fetched.failure.kind, Outcome.FAILED), fetched.failure.message, unread)
    if fetched.status == 304:
        return Read(Outcome.NOT_MODIFIED, "", unread, is_feed=True)
    if fetched.status not in {200, 226}:
        outcome = _STATUSES.get(fetched.status, Outcome.FAILED)
        return Read(outcome, f"The server answered with status {fetched.status}.", unread)
    if further and (further[-1].failure or further[-1].status != 200):
        last = further[-1]
        why = last.failure.message if last.failure else f"The server answered with status {last.status}."
        return Read(Outcome.FAILED, f"{last.url}: {why}", unread)
    body_hash = blake2b(fetched.body, digest_size=16).digest()
    if body_hash == assignment.body_hash:
        return Read(Outcome.UNCHANGED, "The same bytes as before.", body_hash, is_feed=True)
    # A delta (226) shows only part of the feed: its hash cannot be compared with that of the next whole response.
    seen = body_hash if fetched.status == 200 else unread
    try:
        if kinds.kind_of(assignment.kind).is_crawled:
            index = sandbox.run(
                read_index, fetched.body, content_type=fetched.headers.get("content-type", ""), url=fetched.url
            )
            return Read(Outcome.UNCHANGED, "", seen, index=index, is_feed=True)
        found = _read(assignment, [page_of(each) for each in (fetched, *further)])
        if isinstance(found, Follow):
            return Read(Outcome.UNCHANGED, "", unread, is_feed=True, next_url=found.url)
        return Read(Outcome.UNCHANGED, "", seen, feed=found, is_feed=True)
    except (NotAFeed, sandbox.TooSlow, sandbox.Crashed) as error:
        return Read(Outcome.NOT_A_FEED, str(error), unread)


def _read(assignment: Assignment, pages: Sequence[Page]) -> ParsedFeed | Follow:
    recipe = Recipe.from_json(assignment.recipe)
    if is_read_apart(assignment):
        return sandbox.run(kinds.read, assignment.kind, pages, recipe)
    return kinds.read(assignment.kind, pages, recipe)


def page_of(fetched: Fetched) -> Page:
    return Page(fetched.body, fetched.headers.get("content-type", ""), fetched.url)


def is_read_apart(assignment: Assignment) -> bool:
    """Whether a child process parses the source: all but plain feeds may take long."""
    return not kinds.kind_of(assignment.kind).is_feed or bool(assignment.recipe)


def _announcer(assignment: Assignment, fetched: Fetched, read: Read) -> Announcer | None:
    """The announcer that a whole response names; None for one that was not parsed."""
    if fetched.status != 200 or (read.feed is None and read.index is None):
        return None
    feed = read.feed if kinds.kind_of(assignment.kind).is_feed else None  # recipes find no hubs
    return discover(fetched.headers.get("link", ""), feed, fetched.body, fetched.url)


_FAILURES = {
    "host_busy": Outcome.DEFERRED,
    "refused_address": Outcome.REFUSED,
    "bad_address": Outcome.REFUSED,
    "robots": Outcome.REFUSED,
}
_STATUSES = {410: Outcome.GONE, 429: Outcome.THROTTLED, 503: Outcome.THROTTLED}


def _validators(assignment: Assignment, fetched: Fetched, *, is_feed: bool) -> Validators:
    """Both validators of one response: a whole response replaces the pair, a 304 updates those that it has."""
    etag, last_modified = fetched.headers.get("etag", ""), fetched.headers.get("last-modified", "")
    if not is_feed:
        return assignment.validators
    if fetched.status == 304:
        return Validators(etag or assignment.validators.etag, last_modified or assignment.validators.last_modified)
    return Validators(etag, last_modified)


def bits(numbers: Collection[int]) -> int:
    """A set of small numbers as the bits of one.

    >>> bits({0, 3}), numbers_in(9) == {0, 3}
    (9, True)
    """
    return sum(1 << number for number in numbers)


def numbers_in(bits: int) -> frozenset[int]:
    return frozenset(number for number in range(bits.bit_length()) if bits >> number & 1)
