"""When a source may be requested again, check by check."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.politeness import (
    Limits,
    Memory,
    ResponseFacts,
    freshness,
    judge,
    next_due_time,
    retry_after,
)
from apps.sources.formats.feed import UpdateHints

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)  # a Thursday
HOUR, DAY, WEEK = 3_600, 86_400, 604_800
KNOWN = Memory(validated=True)
LIMITS = Limits()


def ok(**headers: str) -> ResponseFacts:
    return ResponseFacts(200, {name.replace("_", "-"): value for name, value in headers.items()}, is_feed=True)


def refusal(status: int, **headers: str) -> ResponseFacts:
    return ResponseFacts(status, {name.replace("_", "-"): value for name, value in headers.items()})


def wait(answer: ResponseFacts, memory: Memory = KNOWN, limits: Limits = LIMITS) -> float:
    """Seconds until the source may be requested again."""
    return (judge(answer, memory, limits, now=NOW).not_before - NOW).total_seconds()


@pytest.mark.parametrize(
    ("answer", "memory", "seconds"),
    [
        # At least an hour between two requests; a day for a source that never offered a validator.
        (ok(), KNOWN, HOUR),
        (ResponseFacts(304, is_feed=True), KNOWN, HOUR),
        (ResponseFacts(226, {"etag": '"2"'}, is_feed=True), KNOWN, HOUR),
        (ok(), Memory(), HOUR),
        (replace(ok(), size=300_000), Memory(), 3 * HOUR),
        (replace(ok(), size=9_000_000), Memory(), DAY),
        (replace(ok(), size=9_000_000), KNOWN, HOUR),
        (replace(ok(), repeated=True), Memory(repeats=3), 2 * HOUR),
        (replace(ok(), repeated=True), Memory(repeats=300), DAY),
        (ok(), Memory(repeats=300), HOUR),
        (ok(etag='"1"'), Memory(), HOUR),
        (ok(last_modified="yesterday"), Memory(), HOUR),
        # Cache-Control and Expires of 200, 226, 304 and 429.
        (ok(cache_control="max-age=43200"), KNOWN, 43_200),
        (ok(cache_control="public, MAX-AGE = 7200, must-revalidate"), KNOWN, 7_200),
        (ResponseFacts(304, {"cache-control": 'max-age="7200"'}, is_feed=True), KNOWN, 7_200),
        (ResponseFacts(226, {"cache-control": "im, max-age=7200"}, is_feed=True), KNOWN, 7_200),
        (refusal(429, cache_control="max-age=90000"), KNOWN, 90_000),
        (ok(cache_control="max-age=60"), KNOWN, HOUR),
        (ok(cache_control="max-age=99999999999999999999"), KNOWN, WEEK),
        (ok(cache_control="no-cache, max-age=43200"), KNOWN, HOUR),
        (ok(cache_control="max-age=43200, no-store"), KNOWN, HOUR),
        (ok(cache_control="s-maxage=43200"), KNOWN, HOUR),
        (ok(cache_control="x-max-age=43200"), KNOWN, HOUR),
        (ok(cache_control="max-age=43200", age="3600"), KNOWN, 39_600),
        (ok(expires="Thu, 01 Jan 2026 14:00:00 GMT"), KNOWN, 7_200),
        (ok(expires="Thu, 01 Jan 2026 14:00:00 GMT", date="Thu, 01 Jan 2026 11:00:00 GMT"), KNOWN, 10_800),
        (ok(expires="Thu, 01 Jan 2026 14:00:00 GMT", cache_control="max-age=0"), KNOWN, HOUR),
        (ok(expires="Thu, 01 Jan 1970 00:00:00 GMT"), KNOWN, HOUR),
        (ok(expires="0"), KNOWN, HOUR),
        (ok(expires="Thu, 01 Jan 9999 00:00:00 GMT"), KNOWN, WEEK),
        # Retry-After in both forms, and what holds without it.
        (refusal(429, retry_after="7200"), KNOWN, 7_200),
        (refusal(429, retry_after="90000"), KNOWN, 90_000),
        (refusal(503, retry_after="Fri, 02 Jan 2026 12:00:00 GMT"), KNOWN, DAY),
        (refusal(503, retry_after="Thu, 01 Jan 2026 15:00:00 GMT", date="Thu, 01 Jan 2026 9:00:00 GMT"), KNOWN, 21_600),
        (refusal(503, retry_after="99999999999999999999"), KNOWN, WEEK),
        (refusal(429, retry_after="1"), KNOWN, 2 * HOUR),
        (refusal(429), KNOWN, DAY),
        (refusal(403), KNOWN, DAY),
        (refusal(403, retry_after="90000"), KNOWN, 90_000),
        (refusal(429, retry_after="soon"), KNOWN, DAY),
        (refusal(503), KNOWN, HOUR),
    ],
)
def test_a_response_demands_a_wait(answer, memory, seconds):
    assert wait(answer, memory) == seconds


@pytest.mark.parametrize(
    "answer", [refusal(404), refusal(500), refusal(503), ResponseFacts(0), ResponseFacts(200), ResponseFacts(304)]
)
def test_failures_back_off_from_an_hour_to_a_week_and_never_end(answer):
    memory, waits = KNOWN, []
    for _ in range(100):
        verdict = judge(answer, memory, LIMITS, now=NOW)
        waits.append((verdict.not_before - NOW) / timedelta(hours=1))
        memory = verdict.memory
        assert not verdict.gone
    assert waits[:9] == [1, 2, 4, 8, 16, 32, 64, 128, 168]
    assert set(waits[9:]) == {168}
    assert memory.consecutive_failures == 100
    assert judge(ok(), memory, LIMITS, now=NOW).memory.consecutive_failures == 0


def test_410_ends_a_source():
    assert judge(refusal(410), KNOWN, LIMITS, now=NOW).gone


def test_an_error_page_in_place_of_a_feed_is_a_failure_whatever_it_says():
    page = ResponseFacts(200, {"etag": '"page"', "cache-control": "max-age=400000"}, is_feed=False)
    verdict = judge(page, Memory(), LIMITS, now=NOW)
    assert verdict.memory == Memory(consecutive_failures=1)
    assert verdict.not_before == NOW + timedelta(hours=1)


def test_a_source_that_throttled_us_is_checked_less_often_until_it_has_succeeded_for_a_while():
    memory, gaps = KNOWN, []
    answers = [refusal(429, retry_after="60"), refusal(503, retry_after="60"), *[ok()] * 8]
    for answer in answers:
        verdict = judge(answer, memory, LIMITS, now=NOW)
        gaps.append((verdict.not_before - NOW) / timedelta(hours=1))
        memory = verdict.memory
    assert gaps == pytest.approx([2, 4, 3.2, 2.56, 2.048, 1.6384, 1.31072, 1.048576, 1, 1])


def test_however_often_a_source_throttles_us_it_is_checked_again():
    memory = KNOWN
    for _ in range(50):
        memory = judge(refusal(429, retry_after="0"), memory, LIMITS, now=NOW).memory
    assert wait(refusal(429, retry_after="0"), memory) == 16 * HOUR


def test_a_deferral_of_our_own_is_no_failure():
    memory = Memory(consecutive_failures=3, slowdown=2.0, validated=True, moved_to="https://b.example/", moved_count=4)
    verdict = judge(ResponseFacts(0, retry_after=12.5), memory, LIMITS, now=NOW)
    assert (verdict.not_before, verdict.memory) == (NOW + timedelta(seconds=12.5), memory)


def moved(target: str) -> ResponseFacts:
    return ResponseFacts(200, {"etag": '"1"'}, permanent_url=target, is_feed=True)


def sightings(*answers: ResponseFacts) -> list[str]:
    """The new address after each answer."""
    memory, moves = KNOWN, []
    for answer in answers:
        verdict = judge(answer, memory, LIMITS, now=NOW)
        memory = verdict.memory
        moves.append(verdict.new_url)
    return moves


def test_a_move_is_believed_at_the_tenth_sighting_in_a_row():
    assert sightings(*[moved("https://b.example/")] * 12) == [""] * 9 + ["https://b.example/"] + [""] * 2


@pytest.mark.parametrize("between", [ok(), moved("https://c.example/"), ResponseFacts(304, is_feed=True)])
def test_a_different_sighting_restarts_the_count(between):
    nine = [moved("https://b.example/")] * 9
    assert not any(sightings(*nine, between, *nine))


def test_a_failure_in_between_says_nothing_of_a_move():
    nine = [moved("https://b.example/")] * 9
    assert sightings(*nine, refusal(500), moved("https://b.example/"))[-1] == "https://b.example/"


def test_a_temporary_move_and_one_to_an_error_page_are_never_believed():
    to_an_error = ResponseFacts(404, permanent_url="https://b.example/")
    assert not any(sightings(*[ok()] * 20))
    assert not any(sightings(*[to_an_error] * 20))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120), (" 120 ", 120), ("0", 0), ("-5", None), ("1.5", None), ("", None), ("soon", None), ("٣", None),
     ("Thu, 01 Jan 2026 12:05:00 GMT", 300), ("Thursday, 01-Jan-26 12:05:00 GMT", 300),
     ("Thu Jan  1 12:05:00 2026", 300), ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
     ("Fri, 31 Dec 9999 23:00:00 -2300", None), ("Thu, 32 Jan 2026 12:05:00 GMT", None)],
)  # fmt: skip
def test_retry_after_is_read_in_both_forms(value, seconds):
    assert retry_after({"retry-after": value}, NOW) == seconds


@given(st.text(), st.text(), st.text(), st.text(), st.integers(100, 599), st.booleans())
def test_no_header_is_so_odd_that_it_is_not_judged(control, expires, date, later, status, is_feed):
    headers = {"cache-control": control, "expires": expires, "date": date, "retry-after": later, "age": later}
    verdict = judge(ResponseFacts(status, headers, is_feed=is_feed), Memory(), LIMITS, now=NOW)
    assert verdict.gone or HOUR <= (verdict.not_before - NOW).total_seconds() <= WEEK


def test_an_answer_that_says_nothing_of_its_freshness_is_not_fresh():
    assert freshness({"cache-control": "public"}, NOW) is None


def test_a_replay_that_runs_faster_waits_less():
    assert wait(replace(ok(), size=9_000_000), Memory(), LIMITS.scaled(60)) == DAY / 60
    assert wait(refusal(500), KNOWN, LIMITS.scaled(60)) == 60


@pytest.mark.parametrize(
    ("answer", "memory", "reason"),
    [
        (ok(), KNOWN, "the minimum gap"),
        (replace(ok(), size=300_000), Memory(), "large or repeated answers"),
        (replace(ok(), repeated=True), Memory(), "large or repeated answers"),
        (ok(cache_control="max-age=7200"), KNOWN, "cached for 7200 s (Cache-Control)"),
        (ok(expires="Thu, 01 Jan 2026 14:00:00 GMT"), KNOWN, "cached for 7200 s (Expires)"),
        (refusal(429, retry_after="7300"), KNOWN, "asked to wait 7300 s (Retry-After)"),
        (refusal(403), KNOWN, "status 403"),
        (refusal(500), Memory(consecutive_failures=2), "back-off after 3 failures in a row"),
        (ok(), Memory(validated=True, slowdown=4.0), "asked to slow down"),
    ],
)
def test_a_verdict_has_its_reason(answer, memory, reason):
    assert reason in judge(answer, memory, LIMITS, now=NOW).reason


def following(planned: float = HOUR, not_before: float = 0, jitter: float = 0.0, **hints: object) -> float:
    """Seconds from now to the next due time."""
    due_at = next_due_time(
        NOW + timedelta(seconds=planned),
        NOW + timedelta(seconds=not_before),
        UpdateHints(**hints),  # type: ignore[arg-type]
        LIMITS,
        since=NOW,
        jitter=jitter,
    )
    return (due_at - NOW).total_seconds()


@pytest.mark.parametrize(
    ("arguments", "hours"),
    [
        ({}, 1),
        ({"not_before": 2 * HOUR}, 2),
        ({"ttl": 3 * HOUR}, 3),
        ({"ttl": 60}, 1),
        ({"ttl": 0}, 1),
        ({"ttl": 99 * WEEK}, 24),
        ({"skip_hours": frozenset({13, 14})}, 3),
        ({"skip_hours": frozenset({12})}, 1),
        ({"skip_hours": frozenset(range(24)) - {12}}, 24),
        ({"skip_hours": frozenset(range(24))}, 1),
        ({"skip_days": frozenset({3})}, 12),
        ({"skip_days": frozenset({3, 4, 5})}, 60),
        ({"skip_days": frozenset(range(7))}, 1),
        ({"skip_days": frozenset({3}), "skip_hours": frozenset({0, 1})}, 14),
        ({"not_before": 2 * HOUR, "ttl": 5 * HOUR, "skip_hours": frozenset({17})}, 6),
    ],
)
def test_hints_of_a_feed_lengthen_the_wait(arguments, hours):
    assert following(**arguments) == hours * HOUR


hours = st.frozensets(st.integers(0, 23))
days = st.frozensets(st.integers(0, 6))


@given(
    st.floats(0, 2 * WEEK), st.floats(0, WEEK), st.none() | st.integers(0, 10**9), hours, days,
    st.floats(0, 1, exclude_max=True),
)  # fmt: skip
def test_due_times_are_never_earlier_nor_in_a_skipped_hour(planned, not_before, ttl, skip_hours, skip_days, jitter):
    seconds = following(planned, not_before, jitter, ttl=ttl, skip_hours=skip_hours, skip_days=skip_days)
    assert seconds >= max(planned, not_before, min(ttl or 0, DAY)) - 1e-5  # datetimes count microseconds
    due_at = NOW + timedelta(seconds=seconds)
    if len(skip_hours) < 24 and len(skip_days) < 7:
        assert due_at.hour not in skip_hours
        assert due_at.weekday() not in skip_days
    assert seconds <= max(planned, not_before, WEEK) + WEEK + LIMITS.jitter


@given(st.floats(0, 1, exclude_max=True))
def test_jitter_only_adds_and_not_much(jitter):
    assert HOUR <= following(jitter=jitter) <= HOUR + LIMITS.jitter
