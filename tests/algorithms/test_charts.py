"""Charts are well-formed, stay within their frame, and draw larger values larger."""

import re
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.web.algorithms.chart_scales import Scale, duration_ticks, even_ticks, round_ticks
from apps.web.algorithms.charts import (
    WIDTH,
    Mark,
    Point,
    Series,
    Spread,
    curve_chart,
    delay_chart,
    heat_map,
    line_chart,
    sparkline,
    timeline,
)
from apps.web.algorithms.durations import span

amounts = st.floats(0, 1e7)
positive = st.floats(1e-3, 1e8)
words = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=20)
counts = st.lists(st.integers(0, 10**6), min_size=7, max_size=7)
times = st.datetimes(timezones=st.just(UTC))
HOSTILE = "\"'><script>alert(1)</script>&amp;"
TIMELINE = {"label": HOSTILE, "format_time": lambda at: HOSTILE, "title": lambda day, count: day}
UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}

weeks = st.lists(st.lists(amounts, min_size=24, max_size=24), min_size=7, max_size=7)
marks = st.lists(st.builds(Mark, st.integers(0, 6), st.floats(0, 24), words), max_size=9)
spreads = st.lists(
    st.builds(
        lambda name, mean, more: Spread(name, mean, (mean or 0) + more, name), words, st.none() | amounts, amounts
    ),
    max_size=31,
)
curves = st.lists(st.tuples(positive, positive), min_size=1, max_size=9)
points = st.lists(st.builds(Point, positive, positive, st.just("meant"), words), max_size=3)


def pictures():
    days = [f"day {number}" for number in range(7)]
    return st.one_of(
        st.builds(lambda values, marked: heat_map(values, days, label="", marks=marked), weeks, marks),
        st.builds(lambda columns: delay_chart(columns, label=""), spreads),
        st.builds(lambda curve, marked: curve_chart(curve, marked, label="", x_label=""), curves, points),
        st.builds(
            lambda series: line_chart(series, days, label=""), st.lists(st.builds(Series, words, counts), max_size=5)
        ),
        st.builds(lambda times: timeline(sorted(times), **TIMELINE), st.lists(times, min_size=1, max_size=60)),
    )


def drawn(picture: str, kind: str) -> list[ElementTree.Element]:
    return [element for element in ElementTree.fromstring(picture).iter() if element.get("class") == kind]


def places(picture: str):
    """All horizontal and vertical places that the elements of a picture name."""
    for element in ElementTree.fromstring(picture).iter():
        at = {
            name: float(value) for name, value in element.items() if name in {"x", "y", "cx", "cy", "width", "height"}
        }
        yield at.get("x", at.get("cx", 0)), at.get("y", at.get("cy", 0))
        yield at.get("x", 0) + at.get("width", 0), at.get("y", 0) + at.get("height", 0)
        for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", element.get("d", "")):
            yield float(x), float(y)


@given(pictures())
def test_pictures_are_well_formed_and_stay_within_their_frame(picture):
    assert not re.search(r'="[^"]*\b(nan|inf)\b', picture)
    _, _, width, height = map(float, ElementTree.fromstring(picture).get("viewBox").split())
    assert width == WIDTH
    assert all(-0.01 <= x <= width + 0.01 and -0.01 <= y <= height + 0.01 for x, y in places(picture))


@pytest.mark.parametrize(
    "picture",
    [
        heat_map([[0.0] * 24], [HOSTILE], label=HOSTILE, marks=[Mark(0, 5.0, HOSTILE)]),
        delay_chart([Spread(HOSTILE, 60.0, 90.0, HOSTILE)], label=HOSTILE),
        curve_chart([(1.0, 1.0)], [Point(1.0, 1.0, HOSTILE, HOSTILE)], label=HOSTILE, x_label=HOSTILE),
        line_chart([Series(HOSTILE, [1])], [HOSTILE], label=HOSTILE),
        timeline([datetime(2024, 5, 1, tzinfo=UTC)], **TIMELINE),
    ],
)
def test_external_texts_are_escaped(picture):
    names = {element.tag for element in ElementTree.fromstring(picture).iter()}
    assert names <= {"svg", "g", "rect", "circle", "path", "text", "title"}
    assert HOSTILE in ElementTree.fromstring(picture).get("aria-label")


@given(pictures())
def test_pictures_set_no_style(picture):
    assert not re.search(r"\sstyle=|\son\w+=", picture)


@given(weeks)
@example([[5e-324] * 24] * 7)  # the least that there is
def test_a_cell_with_more_is_not_paler(values):
    cells = drawn(heat_map(values, list("abcdefg"), label=""), "heat")
    shades = [float(cell.get("fill-opacity")) for cell in cells]
    flat = [value for row in values for value in row]
    ordered = sorted(zip(flat, shades, strict=True))
    assert [shade for _, shade in ordered] == sorted(shades)
    assert max(shades) == pytest.approx(1.0 if max(flat) > 0 else 0.06)


def test_a_time_is_marked_in_its_cell():
    picture = heat_map([[1.0] * 24] * 7, list("abcdefg"), label="", marks=[Mark(3, 17.5, "check")])
    [mark] = drawn(picture, "instant")
    cell = drawn(picture, "heat")[3 * 24 + 17]
    across, down = (float(mark.get(f"c{axis}")) - float(cell.get(axis)) for axis in "xy")
    assert 0 < across < float(cell.get("width"))
    assert 0 < down < float(cell.get("height"))
    assert mark.findtext("title") == "check"


@given(spreads)
def test_a_day_without_postings_has_no_mark_and_the_others_reach_up_to_their_longest(columns):
    picture = delay_chart(columns, label="")
    means, reaches = drawn(picture, "mean"), drawn(picture, "reach")
    assert len(means) == len(reaches) == sum(column.mean is not None for column in columns)
    for reach in reaches:
        [(begin, end)] = re.findall(r"^M[\d.]+ ([\d.]+)V([\d.]+)", reach.get("d"))
        assert float(end) <= float(begin)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=48))
def test_a_sparkline_ends_at_its_last_value(values):
    picture = sparkline(values)
    [dot] = [element for element in ElementTree.fromstring(picture).iter() if element.tag == "circle"]
    assert picture.count("L") == len(values) - 1
    assert f"{dot.get('cx')} {dot.get('cy')}" in picture


def test_a_point_on_a_curve_lies_on_it():
    picture = curve_chart([(10, 100), (40, 25)], [Point(20, 50, "meant", "")], label="", x_label="")
    [(x, y)] = [(float(each.get("cx")), float(each.get("cy"))) for each in drawn(picture, "meant")]
    (left, top), (right, bottom) = [
        (float(one), float(other))
        for one, other in re.findall(r"([\d.]+) ([\d.]+)", drawn(picture, "curve")[0].get("d"))
    ]
    assert (x, y) == pytest.approx(((left + right) / 2, (top + bottom) / 2), abs=0.02)


@pytest.mark.parametrize("curve", [[], [(0.0, 1.0)], [(1.0, -1.0)]])
def test_a_curve_needs_positive_points(curve):
    with pytest.raises(ValueError, match="positive"):
        curve_chart(curve, [], label="", x_label="")


@given(positive, st.floats(1, 1e6), positive, positive, st.booleans())
def test_a_scale_keeps_the_order_and_its_bounds(low, times, one, other, logarithmic):
    scale = Scale(low, low * times, 0, 100, logarithmic=logarithmic)
    smaller, larger = scale(min(one, other)), scale(max(one, other))
    assert 0 <= smaller <= larger <= 100


@given(positive)
def test_even_ticks_are_round_and_reach_the_highest(high):
    ticks = even_ticks(high)
    assert ticks[0] == 0
    assert ticks[-1] >= high * (1 - 1e-6)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= 6


@given(positive, st.floats(1, 1e9))
def test_ticks_lie_within_the_bounds_and_are_few(low, times):
    for ticks in (round_ticks(low, low * times), duration_ticks(low, low * times)):
        assert ticks == sorted(ticks)
        assert len(ticks) <= 6
        assert all(low * 0.999 <= tick <= low * times * 1.001 for tick in ticks)


@given(st.floats(0.1, 1e8))
def test_a_span_can_be_read_back_to_a_twentieth(seconds):
    read = sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (\w+)", span(seconds)))
    assert read == pytest.approx(seconds, rel=0.0501, abs=0.06)


@given(st.lists(st.integers(1, 600), min_size=1, max_size=8), st.integers(1, 90))
def test_a_timeline_begins_and_ends_with_the_bars_of_the_first_and_last_time(gaps, minutes):
    given = [datetime(2024, 5, 1, tzinfo=UTC) + timedelta(minutes=minutes * after) for after in accumulate([0, *gaps])]
    bars = drawn(timeline(given, **TIMELINE), "timeline-bar")
    edges = [(float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))) for bar in bars]
    assert edges[0][0] < 1
    assert edges[-1][1] > WIDTH - 2
