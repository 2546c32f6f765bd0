"""Replay: what a record says about the client, and whether everything served was stored once."""

import pytest

from lab.evaluations.replays.summary import summarise
from lab.evaluations.replays.verification import Stored, collect, compare
from lab.worlds.lines import Published, RecordError, Request, Start, decode, encode

SPEED = 60.0  # a recorded minute lasts a real second
START = Start(origin=0.0, end=1e6, start=1_000.0, speed=SPEED, port=8700, setup={"window": 2})


def request(at, status=200, *, source=1, path="/feed", **values):
    return Request(at=at, source=source, kind="feed", method="GET", path=path, status=status, **values)


def published(posting, at, *, guid="", source=1):
    return Published(at, source, posting, guid, f"http://link/{posting}")


def stored(posting, retrieved, *, row=1, guid="", source=1):
    return Stored(source, row, guid, f"http://link/{posting}", retrieved)


@pytest.mark.parametrize("line", [START, published(3, 7.5, guid="ü"), request(5.0, unwelcome=("cookie",), etag='"a"')])
def test_a_line_is_read_as_it_was_written(line):
    assert decode(encode(line)) == line


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"line": "start"}', b'{"line": "other"}', b"\xff"])
def test_an_invalid_line_is_refused(data):
    with pytest.raises(RecordError):
        decode(data)


def test_a_record_must_begin_with_its_start():
    for read in (summarise, collect):
        with pytest.raises(RecordError, match="start"):
            read([request(5.0)])


def test_requests_and_gaps_are_counted_in_recorded_time():
    summary = summarise(
        [START, request(1_000.0), request(1_060.0), request(1_090.0, source=2), request(1_000.0 + 1_440.0)]
    )
    assert (summary.requests, summary.sources, summary.days) == (4, 2, 1.0)
    assert summary.requests_per_source_and_day == 2.0
    assert (summary.smallest_gap_minutes, summary.smallest_gap_source) == (60.0, 1)


def test_a_redirect_chain_counts_once_and_its_validators_are_the_sources():
    requests = [
        request(1_000.0, 302),
        request(1_000.1, path="/feed/elsewhere", etag='"a"'),
        request(1_060.0, 302, if_none_match='"a"'),
        request(1_060.1, 304, path="/feed/elsewhere", if_none_match='"a"'),
    ]
    summary = summarise([START, *requests])
    assert summary.smallest_gap_minutes == 60.0
    assert (summary.if_none_match.good, summary.unreasonable, summary.conditional_share_after_first) == (2, 0, 1.0)


def test_the_first_request_to_the_address_after_a_move_may_be_unconditional():
    before = [request(1_000.0, 301), request(1_000.1, path="/feed/moved", etag='"a"')]
    direct = request(1_060.0, path="/feed/moved", etag='"a"')
    assert summarise([START, *before, direct]).unreasonable == 0
    assert summarise([START, *before, direct, direct]).unreasonable == 1


@pytest.mark.parametrize(
    ("requests", "good", "stale", "bogus"),
    [
        ([request(1.0, etag='"a"'), request(2.0, if_none_match='"a"')], 1, 0, 0),
        ([request(1.0), request(2.0, if_none_match='"a"')], 0, 0, 1),
        ([request(1.0, etag='"a"'), request(2.0, etag='"b"'), request(3.0, if_none_match='"a"')], 0, 1, 0),
        (
            [request(1.0, etag='"a"'), request(2.0), request(3.0, if_none_match='"a"')],
            0,
            1,
            0,
        ),  # a 200 without one clears it
        ([request(1.0, etag='"a"'), request(2.0, 304), request(3.0, if_none_match='"a"')], 1, 0, 0),
        ([request(1.0, etag='"a"'), request(2.0, 500), request(3.0, if_none_match='"a"')], 1, 0, 0),
        ([request(1.0, etag='"a"', whole=False), request(2.0, if_none_match='"a"')], 0, 0, 1),
    ],
)
def test_a_tag_is_good_if_it_is_the_one_last_given(requests, good, stale, bogus):
    tags = summarise([START, *requests]).if_none_match
    assert (tags.good, tags.stale, tags.bogus) == (good, stale, bogus)


def test_an_unconditional_request_needs_a_reason():
    first, without, conditional = request(1.0, etag='"a"'), request(2.0, etag='"a"'), request(3.0, if_none_match='"a"')
    summary = summarise([START, first, without, conditional])
    assert summary.unreasonable == 1
    assert summary.conditional_share_after_first == 0.5
    assert summarise([START, request(1.0), request(2.0)]).unreasonable == 0


def test_served_and_unstored_postings_count_as_lost():
    witnessed = collect([START, published(0, 1_010.0), published(1, 1_020.0), request(1_030.0, count=2)])
    verdict = compare(witnessed, [stored(0, 1_030.0)])
    assert (verdict.lost_count, verdict.lost, verdict.passed) == (1, ["http://link/1"], False)


def test_postings_of_an_incomplete_response_do_not_count_as_lost():
    witnessed = collect([START, published(0, 1_010.0), request(1_030.0, count=1, whole=False), request(1_031.0, 500)])
    assert compare(witnessed, []).passed


@pytest.mark.parametrize(
    ("further", "lost", "unobtainable"),
    [
        ([request(1_040.0, first=2, count=4, etag='"4"')], 0, 2),  # the client died, and both have left the feed
        ([request(1_040.0, first=1, count=4, etag='"4"')], 1, 1),  # the feed still shows one of them
        ([request(1_040.0, first=2, count=4, etag='"4"', if_none_match='"2"')], 2, 0),  # it claims to hold both
        ([request(1_035.0, 304, count=2, etag='"2"', if_none_match='"2"'), request(1_040.0, first=2, count=4)], 2, 0),
        ([], 2, 0),
    ],
)
def test_postings_that_a_client_never_held_are_unobtainable_once_they_left_the_feed(further, lost, unobtainable):
    shown = [published(number, 1_010.0) for number in range(4)]
    witnessed = collect([START, *shown, request(1_030.0, count=2, etag='"2"'), *further])
    verdict = compare(witnessed, [stored(2, 1_040.0), stored(3, 1_040.0)])
    assert (verdict.lost_count, verdict.unobtainable_count) == (lost, unobtainable)


def test_without_tags_nothing_is_unobtainable():
    shown = [published(number, 1_010.0) for number in range(4)]
    witnessed = collect([START, *shown, request(1_030.0, count=2), request(1_040.0, first=2, count=4)])
    assert compare(witnessed, [stored(2, 1_040.0), stored(3, 1_040.0)]).lost_count == 2


def test_a_304_says_that_the_client_has_it():
    witnessed = collect([START, published(0, 1_010.0), request(1_030.0, 304, count=1)])
    assert compare(witnessed, []).lost_count == 1


def test_the_same_posting_twice_is_doubled_but_not_in_two_sources_of_the_portal():
    witnessed = collect([START, published(0, 1_010.0, guid="g"), request(1_030.0, count=1)])
    twice = [stored(0, 1_030.0, guid="g"), stored(0, 1_031.0, guid="g")]
    assert compare(witnessed, twice).doubled == ["http://link/0"]
    in_two = [stored(0, 1_030.0, guid="g"), stored(0, 1_031.0, guid="g", row=2)]
    assert compare(witnessed, in_two).passed


def test_a_posting_is_known_by_its_guid_or_without_one_by_its_link():
    witnessed = collect([START, published(0, 1_010.0, guid="g"), published(1, 1_010.0), request(1_030.0, count=2)])
    rows = [Stored(1, 1, "g", "http://changed/", 1_030.0), stored(1, 1_030.0), stored(9, 1_030.0)]
    verdict = compare(witnessed, rows)
    assert (verdict.passed, verdict.stored, verdict.unknown_count) == (True, 2, 1)


def test_delays_count_recorded_minutes_of_postings_after_the_start():
    lines = [published(0, 990.0), published(1, 1_010.0), published(2, 1_020.0), request(1_030.0, first=0, count=3)]
    delays = compare(collect([START, *lines]), [stored(number, 1_030.0) for number in range(3)]).delays
    assert (delays.count, delays.mean, delays.p50, delays.largest) == (2, 15.0, 15.0, 20.0)


def test_postings_that_left_the_feed_unseen_have_slipped():
    lines = [published(number, 1_010.0 + number) for number in range(5)]
    verdict = compare(collect([START, *lines, request(1_012.0, first=0, count=1)]), [stored(0, 1_012.0)])
    assert (verdict.slipped_count, verdict.passed) == (2, True)  # 1 and 2; the feed shows 3 and 4
