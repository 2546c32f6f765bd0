"""A plot of recall against background as SVG text."""

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape

SIDE, MARGIN, TOP = 220, 50, 46  # of each panel
COLOUR, OURS = "#57606a", "#d1242f"

Point = tuple[float, float]


def panels(title: str, across: str, up: str, values: Mapping[str, Mapping[str, Point]], ours: str) -> str:
    """A panel per key, in each a named point per method; both axes go from 0 to 1, and `ours` is pointed out.

    >>> svg = panels("Trends", "background", "recall", {"day": {"df": (0.5, 0.5), "ours": (0.0, 0.9)}}, "ours")
    >>> svg.count("<circle"), ">df<" in svg
    (2, True)
    """
    width = len(values) * (SIDE + MARGIN) + MARGIN
    height = TOP + SIDE + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _text(MARGIN, 18, title, "start"),
    ]
    for number, (name, points) in enumerate(values.items()):
        left = MARGIN + number * (SIDE + MARGIN)
        parts += [
            f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#d0d7de"/>',
            _text(left + SIDE / 2, TOP - 7, name, "middle"),
            _text(left + SIDE / 2, TOP + SIDE + 30, across, "middle"),
            *_ticks(left, up if number == 0 else ""),
            *_points(left, points, ours),
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _ticks(left: int, up: str) -> Iterator[str]:
    for value in (0.0, 0.5, 1.0):
        yield _text(left + value * SIDE, TOP + SIDE + 15, f"{value:g}", "middle")
        yield _text(left - 6, TOP + (1 - value) * SIDE + 4, f"{value:g}", "end")
    yield _text(left - 6, TOP - 7, up, "end")


def _points(left: int, points: Mapping[str, Point], ours: str) -> Iterator[str]:
    taken: list[tuple[float, float]] = []  # places of names, which are moved down until they are free
    for name, (across, up) in points.items():
        x, y = left + across * SIDE, TOP + (1 - up) * SIDE
        colour = OURS if name == ours else COLOUR
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        is_right = across < 0.75
        beside = y + 4
        while any(abs(beside - other) < 12 and abs(x - place) < 60 for place, other in taken):
            beside += 12
        taken.append((x, beside))
        yield _text(x + (7 if is_right else -7), beside, name, "start" if is_right else "end", colour)


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#24292f") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
