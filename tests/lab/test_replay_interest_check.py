"""Two records of one replay, with searches and without."""

import pytest

from lab.evaluations.replays.interest import compare, observe
from lab.worlds.lines import Published, RecordError, Request, Start

DAY = 86_400.0


def a_record(requests: dict[int, list[float]], *, published: dict[int, list[float]], speed: float = 60.0):
    """Requests and postings at hours from the beginning; each answer holds all that was published until then."""
    start = Start(origin=0.0, end=9 * DAY, start=100.0, speed=speed, port=8700, setup={})

    def real(hours: float) -> float:
        return 100.0 + hours * 3600 / speed

    lines = [
        (at, Published(real(at), source, number, f"{source}-{number}", ""))
        for source, times in published.items()
        for number, at in enumerate(times)
    ]
    for source, times in requests.items():
        for at in times:
            count = sum(hour <= at for hour in published.get(source, []))
            feed = {"kind": "feed", "method": "GET", "path": "/feed", "status": 200}
            lines.append((at, Request(real(at), source, first=0, count=count, **feed)))
    return observe([start, *(line for _, line in sorted(lines, key=lambda pair: pair[0]))])


PUBLISHED = {1: [1.0, 20.0], 2: [2.0, 47.5]}
WITHOUT = {1: [0.5, 12.0, 24.0, 48.0], 2: [0.5, 12.0, 24.0, 48.0]}
SEARCHED = {1: [0.5, 2.0, 12.0, 21.0, 24.0, 36.0, 48.0], 2: [0.5, 13.0, 48.0]}


def test_a_raised_source_is_compared_apart_from_the_others():
    searched, without = a_record(SEARCHED, published=PUBLISHED), a_record(WITHOUT, published=PUBLISHED)
    others, raised = compare(searched, without, {1: 4.0, 2: 1.0}, (1.0, 1.005, 10.0), longest=10.0)
    assert (raised.sources, raised.by_root, raised.retrievals) == (
        1,
        2.0,
        (6, 3),
    )  # the last request is not before the end
    assert raised.delays == pytest.approx((1.0, 7.5))
    assert (others.sources, others.retrievals) == (1, (2, 3))
    assert others.delays == pytest.approx((11.0, 10.0))  # what came shortly before the end does not count


def test_speed_and_beginning_of_a_replay_change_nothing():
    fast = a_record(SEARCHED, published=PUBLISHED, speed=720.0)
    slow = a_record(SEARCHED, published=PUBLISHED)
    [group] = compare(fast, slow, {1: 1.0, 2: 1.0}, (1.0, 2.0), longest=10.0)
    assert group.retrievals[0] == group.retrievals[1]
    assert group.delays[0] == pytest.approx(group.delays[1])


def test_requests_before_the_beginning_do_not_count():
    early = a_record({1: [-3.0, -1.0, *WITHOUT[1]]}, published={})
    [group] = compare(early, a_record(WITHOUT, published={}), {1: 1.0}, (1.0, 2.0), longest=1.0)
    assert group.retrievals == (3, 3)


def test_a_posting_in_truncated_responses_alone_counts_as_waiting():
    start = Start(origin=0.0, end=9 * DAY, start=0.0, speed=1.0, port=8700, setup={})
    feed = {"source": 1, "kind": "feed", "method": "GET", "path": "/feed", "status": 200, "first": 0, "count": 1}
    lines = [start, Published(10.0, 1, 0, "g", "l"), Request(20.0, whole=False, **feed), Request(30.0, **feed)]
    assert observe(lines).served == {(1, 0): 30.0}


def test_records_that_are_too_short_or_none_are_refused():
    short = a_record({1: [0.5, 5.0]}, published={})
    with pytest.raises(RecordError, match=r"cover 5\.0 hours only; more than the 24"):
        compare(short, short, {1: 1.0}, (1.0, 2.0), longest=24.0)
    with pytest.raises(RecordError, match="does not begin with its start"):
        observe([Published(1.0, 1, 0, "g", "l")])
