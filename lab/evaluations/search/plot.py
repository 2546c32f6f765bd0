"""Recall and precision as SVG text."""

from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

SIDE = 420  # of the square within the axes
LEFT, TOP, BOTTOM = 60, 40, 50
NAMES = 180  # room for the curves' names
LINE = 18
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#0a7ea4", "#57606a")
DASHES = ("none", "6 3", "2 3")

Points = Sequence[tuple[float, float]]


def recall_precision_plot(title: str, curves: Mapping[str, Points]) -> str:
    """Interpolated precision over recall, both from 0 to 1, one curve per model.

    Parameters
    ----------
    title : str
    curves : mapping of name to points (recall, precision)

    Examples
    --------
    >>> svg = recall_precision_plot("TIME", {"BM25 & co": [(0, 1), (1, 0.2)]})
    >>> svg.startswith("<svg"), svg.count("<polyline"), ">BM25 &amp; co<" in svg
    (True, 1, True)
    """
    middle = TOP + SIDE / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + SIDE + NAMES} {TOP + SIDE + BOTTOM}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{LEFT + SIDE + NAMES}" height="{TOP + SIDE + BOTTOM}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
        *_grid(),
        f'<text x="{LEFT + SIDE / 2:g}" y="{TOP + SIDE + 40}" text-anchor="middle">recall</text>',
        f'<text transform="translate(18 {middle:g}) rotate(-90)" text-anchor="middle">precision</text>',
        *_curves(curves),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _place(recall: float, precision: float) -> tuple[float, float]:
    return LEFT + SIDE * recall, TOP + SIDE * (1 - precision)


def _grid() -> Iterable[str]:
    for tenth in range(0, 11, 2):
        across, up = _place(tenth / 10, tenth / 10)
        yield f'<path d="M{LEFT} {up:g}h{SIDE}M{across:g} {TOP}v{SIDE}" stroke="#e4e7eb"/>'
        yield f'<text x="{LEFT - 8}" y="{up + 4:g}" text-anchor="end">{tenth / 10:g}</text>'
        yield f'<text x="{across:g}" y="{TOP + SIDE + 18}" text-anchor="middle">{tenth / 10:g}</text>'


def _curves(curves: Mapping[str, Points]) -> Iterable[str]:
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_place(*point) for point in points))
        height = TOP + LINE * (number + 0.5)
        begin = LEFT + SIDE + 15
        yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        yield f'<path d="M{begin} {height:g}h20" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        yield f'<text x="{begin + 26}" y="{height + 4:g}" fill="{colour}">{escape(name)}</text>'
