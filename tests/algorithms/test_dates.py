from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.dates import EARLIEST, TOLERANCE, EffectiveDate, effective, written_offset
from apps.sources.formats.dates import parse_date

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("claimed", "expected"),
    [
        pytest.param(None, EffectiveDate(NOON - 3 * MICROSECOND, False), id="missing"),
        pytest.param(NOON - SECOND, EffectiveDate(NOON - SECOND, True), id="a second ago"),
        pytest.param(NOON, EffectiveDate(NOON, True), id="this instant"),
        pytest.param(NOON + TOLERANCE, EffectiveDate(NOON - 3 * MICROSECOND, True), id="a clock ahead of ours"),
        pytest.param(NOON + TOLERANCE + SECOND, EffectiveDate(NOON - 3 * MICROSECOND, False), id="the future"),
        pytest.param(EARLIEST, EffectiveDate(EARLIEST, True), id="the earliest"),
        pytest.param(EARLIEST - SECOND, EffectiveDate(NOON - 3 * MICROSECOND, False), id="too early"),
        pytest.param(datetime.min.replace(tzinfo=UTC), EffectiveDate(NOON - 3 * MICROSECOND, False), id="year 1"),
        pytest.param(datetime(9999, 1, 1, tzinfo=UTC), EffectiveDate(NOON - 3 * MICROSECOND, False), id="year 9999"),
    ],
)
def test_a_posting_is_listed_under(claimed: datetime | None, expected: EffectiveDate) -> None:
    assert effective(claimed, received=NOON, position=3) == expected


def test_date_in_another_time_zone_is_equal() -> None:
    claimed = datetime(2026, 3, 1, 13, 30, tzinfo=timezone(timedelta(hours=2)))
    half_an_hour_ago = NOON - timedelta(minutes=30)
    assert effective(claimed, received=NOON, position=0) == EffectiveDate(half_an_hour_ago, trusted=True)


@given(st.none() | st.datetimes(timezones=st.just(UTC)), st.integers(0, 10_000))
def test_no_date_is_later_than_the_retrieval_and_undated_entries_keep_their_order(
    claimed: datetime | None, position: int
) -> None:
    date = effective(claimed, received=NOON, position=position)
    assert EARLIEST <= date.at <= NOON
    if not date.trusted:
        assert date.at > effective(claimed, received=NOON, position=position + 1).at


@pytest.mark.parametrize("naive", ["claimed", "received"])
def test_a_naive_date_is_refused(naive: str) -> None:
    dates = {"claimed": NOON, "received": NOON, naive: NOON.replace(tzinfo=None)}
    with pytest.raises(ValueError, match=f"{naive} must have a time zone"):
        effective(dates["claimed"], received=dates["received"], position=0)


def test_a_negative_position_is_refused() -> None:
    with pytest.raises(ValueError, match="position must not be negative, not -1"):
        effective(None, received=NOON, position=-1)


@pytest.mark.parametrize(
    ("written", "minutes"),
    [
        ("Thu, 01 Jan 2026 19:48:21 -0500", -300),
        ("Thu, 01 Jan 2026 19:48:21 EDT", -240),
        ("2026-01-01T19:48:21+05:30", 330),
        ("2026-01-01T19:48:21Z", None),
        ("Thu, 01 Jan 2026 19:48:21 GMT", None),
        ("Thu, 01 Jan 2026 19:48:21 +0000", None),
        ("2026-01-01T19:48:21", None),
        ("2026-01-01T19:48:21+23:00", None),
    ],
)
def test_the_offset_of_a_date_is_known_where_it_says_more_than_utc(written: str, minutes: int | None) -> None:
    assert written_offset(parse_date(written)) == minutes
