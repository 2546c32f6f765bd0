from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.formats.dates import parse_date

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.builds(lambda seconds, zone: datetime.fromtimestamp(seconds, zone), st.integers(0, 4_000_000_000), ZONES)


@given(MOMENTS)
def test_dates_of_mail_are_read_back(moment: datetime) -> None:
    assert parse_date(format_datetime(moment)) == moment


@given(MOMENTS)
def test_dates_of_the_web_are_read_back(moment: datetime) -> None:
    assert parse_date(moment.isoformat()) == moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon, 06 May 2024 10:15:00 GMT", (2024, 5, 6, 10, 15, 0)),
        ("6 May 24 10:15 EST", (2024, 5, 6, 15, 15, 0)),
        ("Sunday, 6 May 2024 10:15:00 Z", (2024, 5, 6, 10, 15, 0)),  # it was a Monday
        ("May 6, 2024 10:15:00 PDT", (2024, 5, 6, 17, 15, 0)),
        ("March 4, 2024 10:15:00 PDT", (2024, 3, 4, 17, 15, 0)),
        ("Monday, September 9, 2024", (2024, 9, 9, 0, 0, 0)),
        ("06-May-2024 10:15:00 +0530", (2024, 5, 6, 4, 45, 0)),
        ("Mon, 06 May 2024 10:15:00 GMT+0200", (2024, 5, 6, 8, 15, 0)),
        ("Mon, 06 May 2024 10:15:00 +02:00 (CEST)", (2024, 5, 6, 8, 15, 0)),
        ("Mon, 06 May 2024 10:15:00 CEST", (2024, 5, 6, 8, 15, 0)),
        ("Mon, 06 May 2024", (2024, 5, 6, 0, 0, 0)),
        ("Mon, 06 May 2024 24:00:00 GMT", (2024, 5, 7, 0, 0, 0)),
        ("Sat, 31 Dec 2016 23:59:60 GMT", (2016, 12, 31, 23, 59, 59)),
        ("2024-05-06", (2024, 5, 6, 0, 0, 0)),
        ("2024-05", (2024, 5, 1, 0, 0, 0)),
        ("2024-05-06 10:15:00", (2024, 5, 6, 10, 15, 0)),
        ("2024-05-06T10:15:00.123456789Z", (2024, 5, 6, 10, 15, 0)),
        ("20240506T101500Z", (2024, 5, 6, 10, 15, 0)),
        ("Mon May  6 10:15:00 2024", (2024, 5, 6, 10, 15, 0)),
        ("2004년 05월 28일 01:31:15", (2004, 5, 27, 16, 31, 15)),
        ("Κυρ, 11 Ιούλ 2004 12:00:00 EST", (2004, 7, 11, 17, 0, 0)),
        ("július-13T9:15-05:00", None),
        ("", None),
        ("yesterday", None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("31 Feb 2024 10:00 GMT", None),
        ("2024-13-45", None),
        ("6 May 2024 10:15:00 +9999", None),
        ("2" * 1000, None),
    ],
)
def test_dates_as_publishers_write_them(text: str, expected: tuple[int, ...] | None) -> None:
    assert parse_date(text) == (datetime(*expected, tzinfo=UTC) if expected else None)


@given(
    st.text(max_size=60)
    | st.from_regex(r"\w{0,3},? ?\d{1,4}[ -]\w{1,9}[ -]\d{1,4}[T ]\d{0,2}:?\d{0,2}.{0,6}", fullmatch=True)
)
def test_a_date_is_aware_or_none(text: str) -> None:
    moment = parse_date(text)
    assert moment is None or (moment.tzinfo is not None and moment.microsecond == 0)


@given(MOMENTS)
def test_a_date_keeps_the_offset_it_is_written_with(moment: datetime) -> None:
    for text in (format_datetime(moment), moment.isoformat()):
        assert parse_date(text).utcoffset() == moment.utcoffset()


@pytest.mark.parametrize("offset", ["+14:01", "-15:59", "+23:59", "+05:30:15", "+05:30:00.000001"])
def test_impossible_offset_is_replaced_by_utc(offset: str) -> None:
    text = f"2024-05-06T10:15:00{offset}"
    assert parse_date(text).tzinfo is UTC
    assert abs(parse_date(text) - datetime.fromisoformat(text)) < timedelta(seconds=1)
