"""Plots as SVG text."""

import math
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 800, 520
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 40, 50  # margins; the curves' names stand in the right one
LINE = 14  # least distance of two names
MIN_WHAT = 0.1  # what lies below is left out, so that a curve that falls to 0 does not squeeze the others
SIDE, STEPS, LEGEND = 420, 5, 190  # of a linear plot: its square, the steps of its axes, the room for names
BAR, BAR_NAMES, BAR_GROUP = 22, 110, 10  # height of a bar, room for its name, space after a group
PANEL, PANEL_MARGIN = 220, 50
OURS, OTHERS, GRID = "#1f6feb", "#8b949e", "#e4e7eb"
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#0a7ea4", "#57606a")
DASHES = ("none", "6 3", "2 3")

Point = tuple[float, float]
Points = Sequence[Point]


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
    shown = {name: [(x, y) for x, y in points if x > 0 and y >= MIN_WHAT] for name, points in curves.items()}
    shown = {name: points for name, points in shown.items() if points}
    if not shown:
        raise ValueError(f"{title}: there is no point to plot")
    xs = sorted({x for points in shown.values() for x, _ in points})
    ys = [y for points in shown.values() for _, y in points]
    x_axis = _Axis(xs[0], xs[-1], LEFT, WIDTH - RIGHT)
    y_axis = _Axis(min(ys), max(ys), HEIGHT - BOTTOM, TOP)
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts = [
        *_grid(x_axis, xs, y_axis),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across, anchor="middle"),
        _upwards(18, middle, up),
        *_lines(shown, x_axis, y_axis),
    ]
    return _svg(title, WIDTH, HEIGHT, parts)


def linear_plot(
    title: str, across: str, up: str, curves: Mapping[str, Points], most: tuple[float, float] | None = None
) -> str:
    """Curves by name over two axes that begin at 0 and end at `most`, by default at the largest values.

    Examples
    --------
    >>> svg = linear_plot("Growth", "items", "seconds", {"ours & theirs": [(0, 0), (1_000, 2.5)]})
    >>> svg.startswith("<svg"), svg.count("<polyline"), ">ours &amp; theirs<" in svg, ">1,000<" in svg
    (True, 1, True, True)
    """
    points = [point for curve in curves.values() for point in curve]
    max_x, max_y = most or (max((x for x, _ in points), default=0) or 1, max((y for _, y in points), default=0) or 1)
    bottom, right = TOP + SIDE, LEFT + SIDE
    parts = []
    for step in range(STEPS + 1):
        share = step / STEPS
        x, y = LEFT + SIDE * share, bottom - SIDE * share
        parts += [
            f'<path d="M{LEFT} {y:g}h{SIDE}M{x:g} {TOP}v{SIDE}" stroke="{GRID}"/>',
            _text(LEFT - 8, y + 4, f"{max_y * share:,.4g}", anchor="end"),
            _text(x, bottom + 18, f"{max_x * share:,.6g}", anchor="middle"),
        ]
    parts += [_text(LEFT + SIDE / 2, bottom + 40, across, anchor="middle"), _upwards(18, TOP + SIDE / 2, up)]
    for number, (name, curve) in enumerate(curves.items()):
        colour, dash = _style(number)
        points_on_plot = [(LEFT + SIDE * x / max_x, bottom - SIDE * y / max_y) for x, y in curve]
        height = TOP + LINE * (number + 0.5)
        parts += [
            *_polyline(points_on_plot, colour, dash),
            f'<path d="M{right + 15} {height:g}h20" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>',
            _text(right + 41, height + 4, name, colour=colour),
        ]
    return _svg(title, right + LEGEND, bottom + BOTTOM, parts)


def bars(title: str, values: Mapping[str, Mapping[str, float]]) -> str:
    """A group of bars for each collection, one bar per method, all on one scale from 0.

    Examples
    --------
    >>> svg = bars("ROUGE-2", {"CNN & co": {"lead": 0.1, "ours": 0.2}})
    >>> svg.startswith("<svg"), svg.count("<rect"), ">CNN &amp; co<" in svg
    (True, 2, True)
    """
    most = max((value for group in values.values() for value in group.values()), default=0.0) or 1.0
    parts, top = [], TOP
    for collection, group in values.items():
        parts.append(_text(8, top + 14, collection))
        for method, value in group.items():
            top += BAR
            width = (WIDTH - BAR_NAMES - RIGHT) * value / most
            parts += [
                _text(BAR_NAMES - 8, top + 14, method, anchor="end"),
                f'<rect x="{BAR_NAMES}" y="{top + 3}" width="{width:.1f}" height="{BAR - 8}" '
                f'fill="{OURS if method == "ours" else OTHERS}"/>',
                _text(BAR_NAMES + width + 6, top + 14, f"{value:.3f}"),
            ]
        top += BAR + BAR_GROUP
    return _svg(title, WIDTH, top, parts)


def panels(title: str, across: str, up: str, values: Mapping[str, Mapping[str, Point]], ours: str) -> str:
    """A panel per key, in each a named point per method; both axes go from 0 to 1, and `ours` is pointed out.

    >>> svg = panels("Trends", "background", "recall", {"day": {"df": (0.5, 0.5), "ours": (0.0, 0.9)}}, "ours")
    >>> svg.count("<circle"), ">df<" in svg
    (2, True)
    """
    parts = []
    for number, (name, points) in enumerate(values.items()):
        left = PANEL_MARGIN + number * (PANEL + PANEL_MARGIN)
        parts += [
            f'<path d="M{left} {TOP}h{PANEL}v{PANEL}h-{PANEL}z" fill="none" stroke="{GRID}"/>',
            _text(left + PANEL / 2, TOP - 7, name, anchor="middle"),
            _text(left + PANEL / 2, TOP + PANEL + 30, across, anchor="middle"),
            *_ticks(left, up if number == 0 else ""),
            *_points(left, points, ours),
        ]
    return _svg(title, len(values) * (PANEL + PANEL_MARGIN) + PANEL_MARGIN, TOP + PANEL + PANEL_MARGIN, parts)


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
        yield f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="{GRID}"/>'
        yield _text(place, HEIGHT - BOTTOM + 18, f"{x:g}", anchor="middle")
    for y in y_axis.round_values():
        place = y_axis(y)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}" stroke="{GRID}"/>'
        yield _text(LEFT - 8, place + 4, f"{y:g}", anchor="end")


def _lines(curves: Mapping[str, Points], x_axis: _Axis, y_axis: _Axis) -> Iterable[str]:
    heights = _apart({name: y_axis(points[-1][1]) for name, points in curves.items()})
    for number, (name, points) in enumerate(curves.items()):
        colour, dash = _style(number)
        yield from _polyline([(x_axis(x), y_axis(y)) for x, y in points], colour, dash)
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


def _ticks(left: int, up: str) -> Iterable[str]:
    for value in (0.0, 0.5, 1.0):
        yield _text(left + value * PANEL, TOP + PANEL + 15, f"{value:g}", anchor="middle")
        yield _text(left - 6, TOP + (1 - value) * PANEL + 4, f"{value:g}", anchor="end")
    yield _text(left - 6, TOP - 7, up, anchor="end")


def _points(left: int, points: Mapping[str, Point], ours: str) -> Iterable[str]:
    taken: list[Point] = []  # points_on_plot of names, which are moved down until they are free
    for name, (across, up) in points.items():
        x, y = left + across * PANEL, TOP + (1 - up) * PANEL
        colour = OURS if name == ours else COLOURS[-1]
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        is_right = across < 0.75
        beside = y + 4
        while any(abs(beside - other) < 12 and abs(x - place) < 60 for place, other in taken):
            beside += 12
        taken.append((x, beside))
        yield _text(x + (7 if is_right else -7), beside, name, anchor="start" if is_right else "end", colour=colour)


def _style(number: int) -> tuple[str, str]:
    """Colour and dashes of a curve."""
    return COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]


def _polyline(points_on_plot: Points, colour: str, dash: str) -> Iterable[str]:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points_on_plot)
    yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    for x, y in points_on_plot:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>'


def _upwards(x: float, y: float, text: str) -> str:
    return f'<g transform="translate({x:g} {y:g}) rotate(-90)">{_text(0, 0, text, anchor="middle")}</g>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#24292f") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(text)}</text>'
    )


def _svg(title: str, width: float, height: float, parts: Iterable[str]) -> str:
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<path d="M0 0h{width:g}v{height:g}h-{width:g}z" fill="#fff"/>',
        _text(8, 24, title, size=15),
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
