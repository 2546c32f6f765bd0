"""Seconds over items as SVG text, by itself, for reports."""

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 560, 320  # of what the axes enclose
LEFT, TOP, BOTTOM, NAMES = 70, 40, 50, 190
LINE = 18
COLOURS = ("#1f6feb", "#1a7f37", "#8250df", "#0a7ea4", "#d1242f")
STEPS = 5  # of each axis

Points = Sequence[tuple[float, float]]


def growth_plot(title: str, curves: Mapping[str, Points]) -> str:
    """Curves of (items, seconds), each item a point and a line between them.

    Examples
    --------
    >>> svg = growth_plot("Growth", {"ours & theirs": [(0, 0), (1_000, 2.5)]})
    >>> svg.startswith("<svg"), svg.count("<polyline"), ">ours &amp; theirs<" in svg, ">1,000<" in svg
    (True, 1, True, True)
    """
    most_items = max((items for points in curves.values() for items, _ in points), default=0) or 1
    most_seconds = max((seconds for points in curves.values() for _, seconds in points), default=0) or 1
    width, height = LEFT + WIDTH + NAMES, TOP + HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
        *_grid(most_items, most_seconds),
    ]
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [
            (LEFT + WIDTH * items / most_items, TOP + HEIGHT * (1 - seconds / most_seconds))
            for items, seconds in points
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        level = TOP + LINE * (number + 0.5)
        parts.append(f'<circle cx="{LEFT + WIDTH + 20}" cy="{level:g}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + WIDTH + 32}" y="{level + 4:g}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _grid(most_items: float, most_seconds: float) -> Iterator[str]:
    for step in range(STEPS + 1):
        x, y = LEFT + WIDTH * step / STEPS, TOP + HEIGHT * (1 - step / STEPS)
        yield f'<path d="M{LEFT} {y:g}h{WIDTH}M{x:g} {TOP}v{HEIGHT}" stroke="#e4e7eb"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end">{most_seconds * step / STEPS:,.4g}</text>'
        yield f'<text x="{x:g}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{most_items * step / STEPS:,.0f}</text>'
    yield f'<text x="{LEFT + WIDTH / 2:g}" y="{TOP + HEIGHT + 40}" text-anchor="middle">items</text>'
    yield f'<text transform="translate(16 {TOP + HEIGHT / 2:g}) rotate(-90)" text-anchor="middle">seconds</text>'
