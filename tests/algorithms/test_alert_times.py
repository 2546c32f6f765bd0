"""Times of notifications in users' time zones."""

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as some

from apps.alerts.algorithms.times import MAX_ATTEMPTS, end_of_quiet, next_at, next_attempt, next_hour, start_of_day
from apps.database.backoff import DELIVERY_DELAYS

BERLIN, MINUTE, HOUR = ZoneInfo("Europe/Berlin"), timedelta(minutes=1), timedelta(hours=1)
# With daylight saving of an hour and of half an hour, at midnight, with odd offsets, and without a whole day once.
ZONES = some.sampled_from([
    ZoneInfo(name)
    for name in (
        "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "Asia/Kathmandu",
        "Pacific/Apia",
    )
])  # fmt: skip
SPRING, AUTUMN = datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)
# Half of them near the days on which Europe changes its clocks.
MINUTES = some.integers(0, 3 * 24 * 60).map(lambda minutes: minutes * MINUTE)
NOWS = (
    MINUTES.map(lambda passed: SPRING + passed)
    | MINUTES.map(lambda passed: AUTUMN + passed)
    | some.integers(0, 13_000_000).map(lambda minutes: datetime(2010, 1, 1, tzinfo=UTC) + minutes * MINUTE)
)
CLOCKS = some.times().map(lambda clock: clock.replace(second=0, microsecond=0))


def is_quiet(moment, begins, ends, zone):
    clock = moment.astimezone(zone).time()
    return begins <= clock < ends if begins < ends else begins != ends and (clock >= begins or clock < ends)


def has_a_gap(moment, zone):
    """Whether the zone's clocks jump within a day of a moment."""
    return (moment - 24 * HOUR).astimezone(zone).utcoffset() != (moment + 24 * HOUR).astimezone(zone).utcoffset()


@given(NOWS, CLOCKS, CLOCKS, ZONES)
def test_quiet_hours_end_at_the_first_minute_that_is_not_quiet(now, begins, ends, zone):
    now = now.replace(second=0, microsecond=0)
    end = end_of_quiet(now, begins, ends, zone)
    if not is_quiet(now, begins, ends, zone):
        assert end is None
        return
    minute = now
    while is_quiet(minute, begins, ends, zone):
        minute += MINUTE
    # An end that a day does not have comes as long after the gap as it lies in it.
    assert end == minute or (has_a_gap(now, zone) and minute <= end <= minute + HOUR)


def test_quiet_hours_over_a_change_of_clocks_end_when_the_clock_says_so():
    evening = datetime(2026, 3, 28, 22, tzinfo=UTC)  # 23:00; the night has an hour less
    assert end_of_quiet(evening, time(22), time(7), BERLIN) == datetime(2026, 3, 29, 5, tzinfo=UTC)
    evening = datetime(2026, 10, 24, 21, tzinfo=UTC)  # 23:00; the night has an hour more
    assert end_of_quiet(evening, time(22), time(7), BERLIN) == datetime(2026, 10, 25, 6, tzinfo=UTC)


def test_an_hour_that_comes_twice_may_be_quiet_twice():
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 2:30 for the second time
    assert end_of_quiet(second, time(22), time(2, 45), BERLIN) == second + 15 * MINUTE


@given(NOWS, CLOCKS, ZONES)
def test_the_next_time_on_the_clock_is_later_and_shows_that_time_unless_the_day_has_none(now, clock, zone):
    found = next_at(clock, now, zone)
    assert now < found <= now + 50 * HOUR
    assert found.astimezone(zone).time() == clock or has_a_gap(found, zone)


@given(NOWS, some.integers(0, 23), ZONES)
def test_each_day_has_one_digest(now, hour, zone):
    digests = [now]
    for _ in range(4):
        digests.append(next_at(time(hour), digests[-1], zone))
    days = [digest.astimezone(zone).date() for digest in digests[1:]]
    assert len(set(days)) == len(days)
    assert all(later - earlier < 50 * HOUR for earlier, later in pairwise(digests[1:]))


def test_the_digest_of_the_day_comes_at_its_hour_whatever_the_clocks_did():
    found = [datetime(2026, 3, 27, 12, tzinfo=UTC)]
    for _ in range(3):
        found.append(next_at(time(7), found[-1], BERLIN))
    assert [(when.day, when.hour) for when in found[1:]] == [(28, 6), (29, 5), (30, 5)]


@given(NOWS, ZONES)
def test_the_next_full_hour_is_within_an_hour(now, zone):
    found = next_hour(now, zone)
    assert now < found <= now + HOUR
    local = found.astimezone(zone)
    assert local.minute == 0 or local.utcoffset() != now.astimezone(zone).utcoffset()
    assert (found.second, found.microsecond) == (0, 0)


@given(NOWS, ZONES)
def test_a_day_begins_with_its_first_moment(now, zone):
    start = start_of_day(now, zone)
    assert start <= now
    assert start.astimezone(zone).date() == now.astimezone(zone).date()
    assert (start - timedelta(seconds=1)).astimezone(zone).date() < now.astimezone(zone).date()


def test_failures_are_retried_at_growing_intervals_and_not_forever():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    waits = [next_attempt(now, attempts) - now for attempts in range(1, MAX_ATTEMPTS)]
    assert waits == sorted(waits) == list(DELIVERY_DELAYS)
    assert next_attempt(now, MAX_ATTEMPTS) is None


@given(some.integers(1, MAX_ATTEMPTS - 1), some.floats(0, 1e300))
def test_retry_after_counts_up_to_a_day(attempts, retry_after):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    wait = next_attempt(now, attempts, retry_after=retry_after) - now
    assert DELIVERY_DELAYS[attempts - 1] <= wait <= max(DELIVERY_DELAYS[attempts - 1], timedelta(days=1))
