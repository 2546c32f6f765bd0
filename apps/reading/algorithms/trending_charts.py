"""Curves of words over time as SVG: data in, markup out, in which everything that came from outside is escaped.

Colours come from classes, as in `charts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from apps.web.algorithms.charts import BOTTOM, LEFT, RIGHT, TOP, WIDTH
from apps.web.algorithms.charts_scales import Scale, counting_ticks

SPARK_WIDTH, SPARK_HEIGHT = 96.0, 24.0
HEIGHT = 170.0
MAX_NAMES = 6  # below the chart


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    values: Sequence[int]  # all series of a chart have as many


def sparkline(values: Sequence[int]) -> str:
    """A small curve from 0 up to the largest value, its last point marked; for eyes only, without words.

    >>> sparkline([0, 2, 1]).count("L"), sparkline([])
    (2, '')
    """
    if not values:
        return ""
    across = Scale(0.0, max(len(values) - 1, 1), 1.0, SPARK_WIDTH - 3)
    up = Scale(0.0, max(*values, 1), SPARK_HEIGHT - 2, 3.0)
    return (
        f'<svg class="spark" viewBox="0 0 {SPARK_WIDTH:g} {SPARK_HEIGHT:g}" aria-hidden="true">'
        f'<path d="{_path(values, across, up)}"/>'
        f'<circle cx="{across(len(values) - 1):.1f}" cy="{up(values[-1]):.1f}" r="2.2"/></svg>'
    )


def line_chart(series: Sequence[Series], names: Sequence[str], *, label: str) -> str:
    """A curve for each series, in the colours of the classes series-1, series-2 and so on.

    Parameters
    ----------
    series : sequence of Series
        Values >= 0, one for each name.
    names : sequence of str
        Of the points; as many as there is room for are written below.

    Examples
    --------
    >>> picture = line_chart([Series("rain", [0, 3]), Series("<sun>", [1, 1])], ["Mon", "Tue"], label="Words")
    >>> picture.count('class="series'), "&lt;sun&gt;, Tue: 1" in picture
    (2, True)
    """
    across = Scale(0.0, max(len(names) - 1, 1), LEFT, WIDTH - RIGHT - 6)
    ticks = counting_ticks(max([1, *(value for each in series for value in each.values)]), most=4)
    up = Scale(0.0, ticks[-1], HEIGHT - BOTTOM, TOP)
    drawn = [_line_across(up(tick), f"{tick:,.6g}") for tick in ticks]
    every = max(-(-len(names) // MAX_NAMES), 1)
    for place in range(len(names) - 1 - every // 2, -1, -every):
        drawn.append(_text(across(place), HEIGHT - 7, names[place], "middle"))
    places, escaped = [f"{across(place):.1f}" for place in range(len(names))], [escape(name) for name in names]
    for number, each in enumerate(series, 1):
        drawn.append(f'<g class="series series-{number}"><path d="{_path(each.values, across, up)}"/>')
        said = escape(each.name)
        for at, value, name in zip(places, each.values, escaped, strict=True):
            radius = "2.6" if value else "1"
            drawn.append(
                f'<circle cx="{at}" cy="{up(value):.1f}" r="{radius}"><title>{said}, {name}: {value}</title></circle>'
            )
        drawn.append("</g>")
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(label)}">'
        f"{''.join(drawn)}</svg>"
    )


def table_rows(names: Sequence[str], columns: Sequence[Sequence[int]]) -> str:
    """The same figures as rows of a table, the last first; each column has a value for each name.

    >>> table_rows(["Mon"], [[3], [0]])
    '<tr><th scope="row">Mon</th><td class="number">3</td><td class="number">0</td></tr>'
    """
    rows = [
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join([f'<td class="number">{value:,}</td>' for value in values])
        + "</tr>"
        for name, *values in zip(names, *columns, strict=True)
    ]
    return "".join(rows[::-1])


def _path(values: Sequence[int], across: Scale, up: Scale) -> str:
    return "M" + "L".join(f"{across(place):.1f} {up(value):.1f}" for place, value in enumerate(values))


def _line_across(y: float, name: str) -> str:
    return f'<path class="grid" d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}"/>' + _text(LEFT - 5, y + 3.5, name, "end")


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
