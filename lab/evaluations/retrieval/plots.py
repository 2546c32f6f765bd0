"""Plots as SVG text."""

import math
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 800, 520
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 40, 50  # margins; the curves' names stand in the right one
LINE = 14  # least distance of two names
LEAST = 0.1  # what lies below is left out, so that a curve that falls to 0 does not squeeze the others
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#0a7ea4", "#57606a")
DASHES = ("none", "6 3", "2 3")

Points = Sequence[tuple[float, float]]


def log_log_plot(title: str, across: str, up: str, curves: Mapping[str, Points]) -> str:
    """Curves by name over two logarithmic axes, each named at its right end.

    Parameters
    ----------
    title, across, up : str
        Of the plot and of its axes.
    curves : mapping of name to points (x, y)
        Points with x <= 0 or y < 0.1 are left out.

    Raises
    ------
    ValueError
        If no point is left.

    Examples
    --------
    >>> svg = log_log_plot("Delay", "a day", "minutes", {"even": [(1, 720), (2, 360)], "none": [(1, 0)]})
    >>> svg.startswith("<svg"), svg.count("<polyline"), ">even<" in svg, ">none<" in svg
    (True, 1, True, False)
    """
    shown = {name: [(x, y) for x, y in points if x > 0 and y >= LEAST] for name, points in curves.items()}
    shown = {name: points for name, points in shown.items() if points}
    if not shown:
        raise ValueError(f"{title}: there is no point to plot")
    xs = sorted({x for points in shown.values() for x, _ in points})
    ys = [y for points in shown.values() for _, y in points]
    x_axis = _Axis(xs[0], xs[-1], LEFT, WIDTH - RIGHT)
    y_axis = _Axis(min(ys), max(ys), HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(LEFT, 24, title, size=15),
        *_grid(x_axis, xs, y_axis),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across, anchor="middle"),
        f'<g transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2:g}) rotate(-90)">',
        _text(0, 0, up, anchor="middle"),
        "</g>",
        *_lines(shown, x_axis, y_axis),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Axis:
    """From a value to its place on a logarithmic axis."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def __call__(self, value: float) -> float:
        if self.high == self.low:
            return (self.begin + self.end) / 2
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)

    def round_values(self) -> list[float]:
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        values = [factor * 10.0**exponent for exponent in exponents for factor in (1, 2, 5)]
        return [value for value in values if self.low <= value <= self.high] or [self.low]


def _grid(x_axis: _Axis, xs: Sequence[float], y_axis: _Axis) -> Iterable[str]:
    for x in xs:
        place = x_axis(x)
        yield f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#e4e7eb"/>'
        yield _text(place, HEIGHT - BOTTOM + 18, f"{x:g}", anchor="middle")
    for y in y_axis.round_values():
        place = y_axis(y)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}" stroke="#e4e7eb"/>'
        yield _text(LEFT - 8, place + 4, f"{y:g}", anchor="end")


def _lines(curves: Mapping[str, Points], x_axis: _Axis, y_axis: _Axis) -> Iterable[str]:
    heights = _apart({name: y_axis(points[-1][1]) for name, points in curves.items()})
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        places = " ".join(f"{x_axis(x):.1f},{y_axis(y):.1f}" for x, y in points)
        yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        for x, y in points:
            yield f'<circle cx="{x_axis(x):.1f}" cy="{y_axis(y):.1f}" r="2.5" fill="{colour}"/>'
        yield _text(x_axis(points[-1][0]) + 8, heights[name] + 4, name, colour=colour)


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """The same heights, pushed down where two names would touch, then all up as far as the plot was left."""
    placed: dict[str, float] = {}
    lowest = -math.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        lowest = placed[name] = max(height, lowest + LINE)
    bottom = float(HEIGHT - BOTTOM)
    for name in reversed(placed):
        placed[name] = min(placed[name], bottom)
        bottom = placed[name] - LINE
    return placed


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#24292f") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(text)}</text>'
    )
