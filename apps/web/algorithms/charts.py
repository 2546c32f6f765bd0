"""SVG charts: data in, markup out, with all texts escaped.

Colours and fonts come from CSS classes, which suit both themes; the content security policy forbids style attributes.
Every chart but the sparkline is WIDTH units wide and scales with its container; titles appear on hover.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import NamedTuple
from unicodedata import east_asian_width

from apps.web.algorithms.chart_scales import DURATIONS, Scale, counting_ticks, duration_ticks, round_ticks
from apps.web.algorithms.durations import span

WIDTH, HEIGHT = 400.0, 150.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 8.0, 10.0, 22.0  # margins of the plot
HOURS = 24
MAX_NAMES = 6  # below a chart
LETTER = 6.4  # width of one there, with a part of the gap to the next name
MAX_COLUMNS = 48  # per timeline
STEPS = tuple(timedelta(minutes=each) for each in (1, 5, 15, 60, 180, 360, 1_440))  # of a timeline's columns


class Mark(NamedTuple):
    """A point in time on a heat map."""

    row: int
    hours: float  # since the left edge
    title: str


class Spread(NamedTuple):
    """A column of a delay chart, in seconds; the mean is None without data."""

    label: str
    mean: float | None
    longest: float
    title: str


class Point(NamedTuple):
    """A highlighted point on a curve; `kind` is its CSS class."""

    x: float
    y: float
    kind: str
    title: str


class Series(NamedTuple):
    """A curve of a line chart."""

    name: str
    values: Sequence[int]


def heat_map(values: Sequence[Sequence[float]], rows: Sequence[str], *, label: str, marks: Sequence[Mark] = ()) -> str:
    """Named rows of 24 finite numbers >= 0, darker for larger ones, below marks.

    >>> picture = heat_map([[0.0] * 23 + [2.0]], ["Monday"], label="Postings")
    >>> picture.count("<rect"), "Monday 23:00: 2.0" in picture
    (24, True)
    """
    side, tall = (WIDTH - LEFT - RIGHT) / HOURS, 17.0
    most = max((value for row in values for value in row), default=0.0)
    drawn = []
    for number, (row, name) in enumerate(zip(values, rows, strict=True)):
        top = TOP + number * tall
        drawn.append(_text(LEFT - 6, top + tall / 2 + 3.5, name[:3], anchor="end"))
        for hour, value in enumerate(row):
            title = f"{name} {hour}:00: {value:.2g}" if value < 1 else f"{name} {hour}:00: {value:.1f}"
            opacity = 0.06 + 0.94 * (value / most) if most else 0.06
            x = LEFT + hour * side
            drawn.append(_bar("heat", x, top, side - 1, tall - 1, title, fill_opacity=opacity))
    bottom = TOP + len(values) * tall
    drawn += [_text(LEFT + hour * side, bottom + 14, f"{hour}", anchor="middle") for hour in range(0, HOURS + 1, 6)]
    drawn += [
        _circle("instant", LEFT + min(max(mark.hours, 0.0), HOURS) * side, TOP + (mark.row + 0.5) * tall, 4, mark.title)
        for mark in marks
    ]
    return _chart(drawn, bottom + BOTTOM, label)


def delay_chart(columns: Sequence[Spread], *, label: str, format_seconds: Callable[[float], str] = span) -> str:
    """For each column its mean as a dot, and a line from there up to the longest; logarithmic."""
    shown = [column for column in columns if column.mean is not None]
    longest = max((column.longest for column in shown), default=60.0)
    least = min((column.mean or 0.0 for column in shown), default=60.0)
    low = max((duration for duration in DURATIONS if duration <= least / 1.1), default=DURATIONS[0])
    across = Scale(0.0, max(len(columns), 1), LEFT, WIDTH - RIGHT)
    up = Scale(low, max(1.1 * longest, 4 * low), HEIGHT - BOTTOM, TOP, logarithmic=True)
    drawn = _grid(duration_ticks(up.low, up.high), up, format_seconds)
    drawn += _names_below([column.label for column in columns], across, HEIGHT)
    for number, column in enumerate(columns):
        if column.mean is not None:
            x, mean, top = across(number + 0.5), up(column.mean), up(column.longest)
            path = f"M{x:.2f} {mean:.2f}V{top:.2f}M{x - 2.5:.2f} {top:.2f}h5"
            drawn.append(_element("path", _title(column.title), class_="reach", d=path))
            drawn.append(_circle("mean", x, mean, 3.2, column.title))
    return _chart(drawn, HEIGHT, label)


def curve_chart(
    points: Sequence[tuple[float, float]],
    marked: Sequence[Point],
    *,
    label: str,
    x_label: str,
    format_seconds: Callable[[float], str] = span,
) -> str:
    """A falling curve of amounts (x) against seconds (y), both logarithmic, with highlighted points.

    Raises ValueError without points, or if one is not positive.
    """
    xs = [*(x for x, _ in points), *(point.x for point in marked)]
    ys = [*(y for _, y in points), *(point.y for point in marked)]
    if not xs or min(*xs, *ys) <= 0:
        raise ValueError("a curve needs points, all of them positive")
    height = 220.0
    right = Scale(min(xs) / 1.1, max(xs) * 1.1, LEFT, WIDTH - RIGHT, logarithmic=True)
    up = Scale(min(ys) / 1.2, max(ys) * 1.2, height - BOTTOM - 12, TOP, logarithmic=True)
    drawn = _grid(duration_ticks(up.low, up.high), up, format_seconds)
    drawn += [
        _text(right(tick), height - BOTTOM + 2, f"{tick:,.6g}", anchor="middle")
        for tick in round_ticks(right.low, right.high)
        if LEFT + 8 < right(tick) < WIDTH - RIGHT - 8
    ]
    drawn.append(_text((LEFT + WIDTH - RIGHT) / 2, height - 5, x_label, anchor="middle"))
    drawn.append(_element("path", class_="curve", d=_path((right(x), up(y)) for x, y in sorted(points))))
    drawn += [_circle(point.kind, right(point.x), up(point.y), 5.5, point.title) for point in marked]
    return _chart(drawn, height, label)


def line_chart(series: Sequence[Series], names: Sequence[str], *, label: str) -> str:
    """A curve for each series of counts, one per name, with the CSS classes series-1, series-2 and so on.

    >>> picture = line_chart([Series("rain", [0, 3]), Series("<sun>", [1, 1])], ["Mon", "Tue"], label="Words")
    >>> picture.count('class="series'), "&lt;sun&gt;, Tue: 1" in picture
    (2, True)
    """
    height = 170.0
    ticks = counting_ticks(max([1, *(value for each in series for value in each.values)]), most=4)
    across = Scale(0.0, max(len(names) - 1, 1), LEFT, WIDTH - RIGHT - 6)
    up = Scale(0.0, ticks[-1], height - BOTTOM, TOP)
    drawn = _grid(ticks, up) + _names_below(names, across, height, shift=0.0)
    for number, each in enumerate(series, 1):
        places = [(across(at), up(value)) for at, value in enumerate(each.values)]
        dots = (
            _circle("", x, y, 2.6 if value else 1, f"{each.name}, {name}: {value}")
            for (x, y), value, name in zip(places, each.values, names, strict=True)
        )
        drawn.append(_element("g", _element("path", d=_path(places)), *dots, class_=f"series series-{number}"))
    return _chart(drawn, height, label)


def timeline(
    times: Sequence[datetime], *, label: str, format_time: Callable[[datetime], str], title: Callable[[str, int], str]
) -> str:
    """The numbers of ascending times, at least one, in columns of equal periods; a title has a period and a number.

    >>> from datetime import UTC
    >>> noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> times = [noon, noon + timedelta(minutes=2), noon + timedelta(hours=2)]
    >>> picture = timeline(times, label="Reports", format_time="{:%H:%M}".format, title="{}: {} reports".format)
    >>> picture.count("<rect"), "12:00: 2 reports" in picture
    (2, True)
    """
    height, ground = 46.0, 32.0
    first, period = times[0], times[-1] - times[0]
    step = next((step for step in STEPS if period / step < MAX_COLUMNS), max(STEPS[-1], period / MAX_COLUMNS))
    counts = Counter(int((at - first) / step) for at in times)
    wide = min(WIDTH / (max(counts) + 1), 24.0)
    across = Scale(0.0, max(1, *counts), 0.5, WIDTH - wide + 0.5)
    up = Scale(0.0, max(counts.values()), ground - 4, 2.0)
    drawn = [_element("path", class_="timeline-ground", d=f"M0 {ground}H{WIDTH}")]
    for at, count in sorted(counts.items()):
        words = title(format_time(first + at * step), count)
        drawn.append(_bar("timeline-bar", across(at), up(count), max(wide - 1, 1), ground - up(count), words))
    drawn.append(_text(0, height - 2, format_time(first), anchor="start"))
    drawn.append(_text(WIDTH, height - 2, format_time(times[-1]), anchor="end"))
    return _chart(drawn, height, label, kind="timeline")


def sparkline(values: Sequence[int]) -> str:
    """A small curve from 0 up to the largest value with its last point marked; hidden from screen readers.

    >>> sparkline([0, 2, 1]).count("L"), sparkline([])
    (2, '')
    """
    if not values:
        return ""
    width, height = 96.0, 24.0
    across = Scale(0.0, max(len(values) - 1, 1), 1.0, width - 3)
    up = Scale(0.0, max(*values, 1), height - 2, 3.0)
    places = [(across(at), up(value)) for at, value in enumerate(values)]
    drawn = (_element("path", d=_path(places)), _circle("", *places[-1], 2.2))
    return _element("svg", *drawn, class_="spark", viewBox=f"0 0 {width:g} {height:g}", aria_hidden="true")


def _grid(ticks: Iterable[float], up: Scale, format_value: Callable[[float], str] = "{:,.6g}".format) -> list[str]:
    return [
        _element("path", class_="grid", d=f"M{LEFT} {up(tick):.2f}H{WIDTH - RIGHT}")
        + _text(LEFT - 5, up(tick) + 3.5, format_value(tick), anchor="end")
        for tick in ticks
    ]


def _names_below(names: Sequence[str], across: Scale, height: float, shift: float = 0.5) -> list[str]:
    """At most MAX_NAMES names that do not touch, evenly spaced from the last one backwards."""
    widest = LETTER * max(map(_letters, names), default=0)
    every = max(-(-len(names) // MAX_NAMES), int(widest / (across(1) - across(0))) + 1)
    return [
        _text(across(number + shift), height - 7, names[number], anchor="middle")
        for number in range(len(names) - 1 - every // 2, -1, -every)
    ]


def _letters(name: str) -> int:
    """The width of a name in Latin letters; Chinese characters are twice as wide."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in name)


def _chart(drawn: Sequence[str], height: float, label: str, kind: str = "chart") -> str:
    return _element("svg", *drawn, class_=kind, viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=label)


def _bar(kind: str, x: float, y: float, width: float, height: float, title: str, **attributes: float) -> str:
    return _element("rect", _title(title), class_=kind, x=x, y=y, width=width, height=height, **attributes)


def _circle(kind: str, x: float, y: float, radius: float, title: str = "") -> str:
    return _element("circle", _title(title) if title else "", class_=kind, cx=x, cy=y, r=radius)


def _path(places: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in places)


def _text(x: float, y: float, words: str, *, anchor: str) -> str:
    return _element("text", escape(words), x=x, y=y, text_anchor=anchor)


def _title(words: str) -> str:
    return f"<title>{escape(words)}</title>"


def _element(name: str, *children: str, **attributes: str | float) -> str:
    """An element; attributes without a value are left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else f"{value:.2f}"}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{''.join(children)}</{name}>"
