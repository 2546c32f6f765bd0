"""Pictures as SVG: data in, markup out, in which everything that came from outside is escaped.

Colours and type come from classes, so that a picture looks right by day and by night; nothing is set in style
attributes, which the content security policy forbids. Every picture is WIDTH units wide and scales with its place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from apps.web.algorithms.charts_scales import DURATIONS, Scale, counting_ticks, duration_ticks, even_ticks, round_ticks
from apps.web.algorithms.durations import span

WIDTH = 400.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 8.0, 10.0, 22.0  # margins around what is plotted
HOURS = 24


@dataclass(frozen=True, slots=True)
class Mark:
    """An instant on a heat map: the row, the hours since its left edge, and what it is."""

    row: int
    hours: float
    words: str


@dataclass(frozen=True, slots=True)
class Spread:
    """One column of a picture of delays, in seconds; without a mean there was nothing to delay."""

    label: str
    mean: float | None
    longest: float


@dataclass(frozen=True, slots=True)
class Point:
    """A point that is pointed out on a curve; `kind` is the class it is drawn with."""

    x: float
    y: float
    kind: str
    words: str


def heat_map(values: Sequence[Sequence[float]], rows: Sequence[str], *, label: str, marks: Sequence[Mark] = ()) -> str:
    """Rows of 24 hours, the darker the more; every cell says its value, and marks lie above.

    Parameters
    ----------
    values : rows of 24 finite numbers >= 0
    rows : one name per row

    >>> picture = heat_map([[0.0] * 23 + [2.0]], ["Monday"], label="Habit")
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
            drawn.append(
                _element(
                    "rect",
                    _title(f"{name} {hour}:00: {value:.2g}" if value < 1 else f"{name} {hour}:00: {value:.1f}"),
                    class_="heat",
                    x=LEFT + hour * side,
                    y=top,
                    width=side - 1,
                    height=tall - 1,
                    fill_opacity=0.06 + 0.94 * (value / most) if most else 0.06,
                )
            )
    bottom = TOP + len(values) * tall
    drawn += [_text(LEFT + hour * side, bottom + 14, f"{hour}", anchor="middle") for hour in range(0, HOURS + 1, 6)]
    drawn += [
        _element(
            "circle",
            _title(mark.words),
            class_="instant",
            cx=LEFT + min(max(mark.hours, 0.0), HOURS) * side,
            cy=TOP + (mark.row + 0.5) * tall,
            r=4,
        )
        for mark in marks
    ]
    return _picture(drawn, bottom + BOTTOM, label)


def delay_chart(
    columns: Sequence[Spread],
    *,
    label: str,
    written: Callable[[float], str] = span,
    said: str = "{column}: {mean} on average, {longest} at most",
) -> str:
    """For each column its mean as a dot, and a line from there up to the longest; logarithmic.

    `written` writes a delay, and `said` is what is told of each column, in words of the reader's language.
    """
    shown = [column for column in columns if column.mean is not None]
    longest = max((column.longest for column in shown), default=60.0)
    least = min((column.mean or 0.0 for column in shown), default=60.0)
    low = max((duration for duration in DURATIONS if duration <= least / 1.1), default=DURATIONS[0])
    across = _columns(len(columns))
    height = 150.0
    up = Scale(low, max(1.1 * longest, 4 * low), height - BOTTOM, TOP, logarithmic=True)
    drawn = [_line_across(up(tick), written(tick)) for tick in duration_ticks(up.low, up.high)]
    drawn += _names_below([column.label for column in columns], across, height)
    for number, column in enumerate(columns):
        if column.mean is None:
            continue
        x, mean, top = across(number + 0.5), up(column.mean), up(column.longest)
        words = _title(said.format(column=column.label, mean=written(column.mean), longest=written(column.longest)))
        drawn += [
            _element("path", words, class_="reach", d=f"M{x:.2f} {mean:.2f}V{top:.2f}M{x - 2.5:.2f} {top:.2f}h5"),
            _element("circle", words, class_="mean", cx=x, cy=mean, r=3.2),
        ]
    return _picture(drawn, height, label)


def curve_chart(
    points: Sequence[tuple[float, float]],
    marked: Sequence[Point],
    *,
    label: str,
    below: str,
    written: Callable[[float], str] = span,
) -> str:
    """A falling curve of amounts (x > 0) against seconds (y > 0), both logarithmic, with points pointed out.

    `written` writes the seconds in the reader's language.

    Raises
    ------
    ValueError
        If there is no point, or one is not positive.
    """
    xs, ys = ([*(point[axis] for point in points), *(values)] for axis, values in enumerate(_places(marked)))
    if not xs or min(*xs, *ys) <= 0:
        raise ValueError("a curve needs points, all of them positive")
    height = 220.0
    right = Scale(min(xs) / 1.1, max(xs) * 1.1, LEFT, WIDTH - RIGHT, logarithmic=True)
    up = Scale(min(ys) / 1.2, max(ys) * 1.2, height - BOTTOM - 12, TOP, logarithmic=True)
    drawn = [_line_across(up(tick), written(tick)) for tick in duration_ticks(up.low, up.high)]
    drawn += [
        _text(right(tick), height - BOTTOM + 2, f"{tick:,.6g}", anchor="middle")
        for tick in round_ticks(right.low, right.high)
        if LEFT + 8 < right(tick) < WIDTH - RIGHT - 8
    ]
    drawn.append(_text((LEFT + WIDTH - RIGHT) / 2, height - 5, below, anchor="middle"))
    path = "L".join(f"{right(x):.2f} {up(y):.2f}" for x, y in sorted(points))
    drawn.append(_element("path", class_="curve", d=f"M{path}"))
    drawn += [
        _element("circle", _title(point.words), class_=point.kind, cx=right(point.x), cy=up(point.y), r=5.5)
        for point in marked
    ]
    return _picture(drawn, height, label)


def bar_chart(
    values: Sequence[float], names: Sequence[str], *, label: str, words: Sequence[str], level: float | None = None
) -> str:
    """A bar for each value, a few of them named below; `level` is drawn across as what was meant.

    Parameters
    ----------
    values : finite numbers >= 0
    names, words : one for each bar
        What stands below it if there is room, and what it says when pointed at.
    """
    height = 150.0
    across = _columns(len(values))
    counted = all(isinstance(value, int) for value in values)
    ticks = (counting_ticks if counted else even_ticks)(max([*values, level or 0.0]), most=4)
    up = Scale(0.0, ticks[-1], height - BOTTOM, TOP)
    drawn = [_line_across(up(tick), f"{tick:,.6g}") for tick in ticks]
    drawn += _names_below(names, across, height)
    for number, (value, said) in enumerate(zip(values, words, strict=True)):
        left, right = across(number), across(number + 1)
        drawn.append(
            _element(
                "rect",
                _title(said),
                class_="bar",
                x=left + (right - left) * 0.12,
                y=up(value),
                width=(right - left) * 0.76,
                height=up(0.0) - up(value),
            )
        )
    if level is not None:
        drawn.append(_element("path", class_="level", d=f"M{LEFT} {up(level):.2f}H{WIDTH - RIGHT}"))
    return _picture(drawn, height, label)


def _places(marked: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [point.x for point in marked], [point.y for point in marked]


def _columns(count: int) -> Scale:
    return Scale(0.0, max(count, 1), LEFT, WIDTH - RIGHT)


def _names_below(names: Sequence[str], across: Scale, height: float) -> list[str]:
    """As many names as there is room for, evenly from the last one backwards."""
    every = max(-(-len(names) // 6), 1)
    return [
        _text(across(number + 0.5), height - 7, names[number], anchor="middle")
        for number in range(len(names) - 1 - every // 2, -1, -every)
    ]


def _line_across(y: float, name: str) -> str:
    line = _element("path", class_="grid", d=f"M{LEFT} {y:.2f}H{WIDTH - RIGHT}")
    return line + _text(LEFT - 5, y + 3.5, name, anchor="end")


def _picture(drawn: Sequence[str], height: float, label: str) -> str:
    return _element(
        "svg",
        *drawn,
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        aria_label=label,
    )


def _text(x: float, y: float, words: str, *, anchor: str) -> str:
    return _element("text", escape(words), x=x, y=y, text_anchor=anchor)


def _title(words: str) -> str:
    return f"<title>{escape(words)}</title>"


def _element(name: str, *children: str, **attributes: str | float) -> str:
    written = "".join(
        f' {_attribute(key)}="{escape(value) if isinstance(value, str) else f"{value:.2f}"}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(children)}</{name}>"


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
