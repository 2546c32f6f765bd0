"""When a source may be requested again, by its own responses and by general politeness.

All durations are seconds. What a source requests lengthens the wait between retrievals, never shortens it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from apps.database.backoff import backoff
from apps.sources.formats.feed import UpdateHints

SIGHTINGS_OF_A_MOVE = 10  # consecutive permanent redirects to one address before it is believed
STEEPEST_SLOWDOWN = 16.0
RECOVERY = 0.8  # what a success leaves of the slowdown
_SUCCESSES = frozenset({200, 226, 304})
MINIMUM_GAP = "the minimum gap"
LARGE = 100_000  # bytes of an answer without a validator: a larger one lengthens the gap as much
REPEATS = 4  # answers of the same bytes in a row that lengthen it by as much as the minimum gap
_THROTTLES = frozenset({403, 429})  # some sites say 403 where they mean "slow down"


@dataclass(frozen=True, slots=True)
class Limits:
    """Minimum waits; a replay divides all of them by its clock rate."""

    min_gap: float = 3_600.0  # between two requests to a source, manual ones included
    unvalidated_gap: float = 86_400.0  # the longest for a source without ETag and Last-Modified
    max_header_wait: float = 604_800.0  # the longest wait that a header may demand
    longest_hint: float = 86_400.0  # that an element of a feed may demand: a weekly podcast may publish a day early
    backoff_first: float = 3_600.0  # after the first failure; doubled by each further one
    backoff_last: float = 604_800.0  # a failing source is retried forever
    throttled_gap: float = 86_400.0  # after a 429 or 403 that does not say how long
    jitter: float = 30.0  # the most added to a due time, so that sources do not stay in step

    def scaled(self, clock_rate: float) -> "Limits":
        """The same for a source whose time runs `clock_rate` times as fast as ours."""
        return Limits(**{each.name: getattr(self, each.name) / clock_rate for each in fields(self)})


@dataclass(frozen=True, slots=True)
class Memory:
    """What is stored of a source's previous responses."""

    consecutive_failures: int = 0
    slowdown: float = 1.0  # factor on the usual gap after requests to slow down
    validated: bool = False  # it has offered a validator
    moved_to: str = ""  # where its latest responses permanently redirected to
    moved_count: int = 0  # how many in a row
    repeats: int = 0  # whole answers in a row with the bytes of the one before


@dataclass(frozen=True, slots=True)
class ResponseFacts:
    """The parts of a response that decide the wait."""

    status: int  # HTTP; 0 without a response
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    retry_after: float | None = None  # s; a deferral by ourselves
    permanent_url: str = ""  # where an unbroken chain of permanent redirects led
    is_feed: bool = False  # a feed, or a 304
    size: int = 0  # bytes of the body
    repeated: bool = False  # the same bytes as before


@dataclass(frozen=True, slots=True)
class Verdict:
    not_before: datetime
    reason: str  # why not before, for people
    memory: Memory
    gone: bool = False
    new_url: str = ""  # the address from now on

    @property
    def is_usual(self) -> bool:
        """Whether nothing but the general shortest gap demands a wait."""
        return self.reason == MINIMUM_GAP


@dataclass(frozen=True, slots=True)
class _Wait:
    seconds: float
    reason: str


def judge(response: ResponseFacts, memory: Memory, limits: Limits, *, now: datetime) -> Verdict:
    """The wait that follows from a response, and what to store of it.

    A deferral of our own (`retry_after` set) changes only the due time. Failures back off from `backoff_first`,
    doubling up to `backoff_last`; they end with the first success. 410 ends the source.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> response = ResponseFacts(304, {"cache-control": "max-age=7200"}, is_feed=True)
    >>> verdict = judge(response, Memory(validated=True), Limits(), now=now)
    >>> verdict.not_before.isoformat(), verdict.reason
    ('2026-01-01T02:00:00+00:00', 'it can be cached for 7200 s (Cache-Control)')
    """
    if response.retry_after is not None:
        return Verdict(now + timedelta(seconds=response.retry_after), "its host is busy", memory)
    if response.status == 410:
        return Verdict(
            now, "gone for good", replace(memory, consecutive_failures=memory.consecutive_failures + 1), True
        )
    succeeded = response.is_feed and response.status in _SUCCESSES
    memory = _remember(response, memory, succeeded=succeeded)
    slowed = f"{memory.slowdown:g} times the minimum gap: the site asked to slow down"
    waits = [_Wait(limits.min_gap * memory.slowdown, MINIMUM_GAP if memory.slowdown == 1 else slowed)]
    if succeeded:
        waits += _waits_of_a_success(response, memory, limits, now)
    else:
        waits += _waits_of_a_failure(response, memory, limits, now)
    longest = max(waits, key=lambda wait: wait.seconds)
    verdict = Verdict(now + timedelta(seconds=longest.seconds), longest.reason, memory)
    if memory.moved_count >= SIGHTINGS_OF_A_MOVE:
        forgotten = replace(memory, moved_to="", moved_count=0, validated=False)
        return replace(verdict, new_url=memory.moved_to, memory=forgotten)
    return verdict


def _remember(response: ResponseFacts, memory: Memory, *, succeeded: bool) -> Memory:
    if not succeeded:
        throttles = response.status in _THROTTLES or (response.status == 503 and "retry-after" in response.headers)
        slowdown = min(2 * memory.slowdown, STEEPEST_SLOWDOWN) if throttles else memory.slowdown
        return replace(memory, consecutive_failures=memory.consecutive_failures + 1, slowdown=slowdown)
    offered = bool(response.headers.get("etag") or response.headers.get("last-modified"))
    same = bool(response.permanent_url) and response.permanent_url == memory.moved_to
    return Memory(
        consecutive_failures=0,
        slowdown=max(1.0, RECOVERY * memory.slowdown),
        validated=memory.validated or offered,
        moved_to=response.permanent_url,
        moved_count=memory.moved_count + 1 if same else int(bool(response.permanent_url)),
        repeats=memory.repeats + 1 if response.repeated else 0,
    )


def _waits_of_a_success(response: ResponseFacts, memory: Memory, limits: Limits, now: datetime) -> list[_Wait]:
    waits = []
    lengthened = limits.min_gap * max(1.0, response.size / LARGE) * (1 + memory.repeats / REPEATS)
    if not memory.validated and lengthened > limits.min_gap:
        reason = "large or repeated answers, as the site does not support conditional requests (ETag, Last-Modified)"
        waits.append(_Wait(min(lengthened, limits.unvalidated_gap), reason))
    if fresh := freshness(response.headers, now):
        waits.append(_Wait(min(fresh.seconds, limits.max_header_wait), fresh.reason))
    return waits


def _waits_of_a_failure(response: ResponseFacts, memory: Memory, limits: Limits, now: datetime) -> list[_Wait]:
    waits = []
    requested = retry_after(response.headers, now) if response.status in {403, 429, 503} else None
    if requested is not None:
        reason = f"the site asked to wait {requested:.0f} s (Retry-After)"
        waits.append(_Wait(min(requested, limits.max_header_wait), reason))
    elif response.status in _THROTTLES:
        waits.append(_Wait(limits.throttled_gap, f"the site refused with status {response.status}"))
    if response.status == 429 and (fresh := freshness(response.headers, now)):
        waits.append(_Wait(min(fresh.seconds, limits.max_header_wait), fresh.reason))
    failures = memory.consecutive_failures
    if requested is None:
        wait = backoff(failures, limits.backoff_first, limits.backoff_last)
        waits.append(_Wait(wait, f"back-off after {failures} failure{'s' * (failures > 1)} in a row"))
    return waits


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait by Retry-After, in either of its forms; None when it is absent or malformed.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> retry_after({"retry-after": "120"}, now), retry_after({"retry-after": "Thu, 01 Jan 2026 00:05:00 GMT"}, now)
    (120.0, 300.0)
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    date = _http_date(value)
    return None if date is None else max(0.0, (date - _server_time(headers, now)).total_seconds())


def freshness(headers: Mapping[str, str], now: datetime) -> _Wait | None:
    """How long a response stays fresh: Cache-Control's max-age, else Expires against Date (RFC 9111)."""
    control = headers.get("cache-control", "").lower()
    if "no-cache" in control or "no-store" in control:
        return None
    if age := re.search(r"(?<![\w-])max-age\s*=\s*\"?(\d{1,12})", control):
        seconds = float(age[1]) - _age(headers)
        return _Wait(seconds, f"it can be cached for {seconds:.0f} s (Cache-Control)") if seconds > 0 else None
    expires = _http_date(headers.get("expires", ""))
    if expires is None:
        return None
    seconds = (expires - _server_time(headers, now)).total_seconds()
    return _Wait(seconds, f"it can be cached for {seconds:.0f} s (Expires)") if seconds > 0 else None


def _age(headers: Mapping[str, str]) -> float:
    """Seconds that the response spent in caches on the way."""
    value = headers.get("age", "").strip()
    return float(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0.0


def _server_time(headers: Mapping[str, str], now: datetime) -> datetime:
    """The time of a response by the server's clock, which its other dates go by."""
    return _http_date(headers.get("date", "")) or now


def _http_date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def next_due_time(
    wanted: datetime, not_before: datetime, hints: UpdateHints, limits: Limits, *, since: datetime, jitter: float
) -> datetime:
    """The time of the next retrieval: the wanted one, or the first later one that is allowed.

    `since` is the latest retrieval, from which the feed's ttl counts; `jitter` in [0, 1) spreads due times and only
    adds. skipHours and skipDays are applied unless they leave no hour within `max_header_wait`.

    >>> midnight = datetime(2026, 1, 1, tzinfo=UTC)
    >>> hints = UpdateHints(skip_hours=frozenset({1, 2}))
    >>> next_due_time(midnight + timedelta(hours=1), midnight, hints, Limits(), since=midnight, jitter=0.0).hour
    3
    """
    due_at = max(wanted, not_before)
    if hints.ttl:
        due_at = max(due_at, since + timedelta(seconds=min(hints.ttl, limits.longest_hint)))
    due_at += timedelta(seconds=jitter * limits.jitter)
    return _outside_skipped(due_at, hints, limits)


def _outside_skipped(due_at: datetime, hints: UpdateHints, limits: Limits) -> datetime:
    last = due_at + timedelta(seconds=limits.max_header_wait)
    candidate = due_at
    while candidate.hour in hints.skip_hours or candidate.weekday() in hints.skip_days:
        # Keep the minutes, so that sources which all skip the night do not all wake on the stroke of an hour.
        candidate += timedelta(hours=1)
        if candidate > last:
            return due_at
    return candidate
