"""ROUGE-2 of all methods as SVG text."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

WIDTH, NAMES, ROW, HEAD = 640, 110, 22, 44
OURS, OTHERS = "#1f6feb", "#8b949e"


def bars(title: str, values: Mapping[str, Mapping[str, float]]) -> str:
    """A group of bars for each collection, one bar per method, all on one scale from 0.

    Parameters
    ----------
    title : str
    values : mapping of collection to mapping of method to value >= 0

    Examples
    --------
    >>> svg = bars("ROUGE-2", {"CNN & co": {"lead": 0.1, "ours": 0.2}})
    >>> svg.startswith("<svg"), svg.count("<rect class"), ">CNN &amp; co<" in svg
    (True, 2, True)
    """
    most = max((value for group in values.values() for value in group.values()), default=0.0) or 1.0
    parts = []
    top = HEAD
    for collection, group in values.items():
        parts.append(f'<text x="8" y="{top + 14}" font-weight="600">{escape(collection)}</text>')
        for method, value in group.items():
            top += ROW
            width = (WIDTH - NAMES - 70) * value / most
            parts += [
                f'<text x="{NAMES - 8}" y="{top + 14}" text-anchor="end">{escape(method)}</text>',
                f'<rect class="bar" x="{NAMES}" y="{top + 3}" width="{width:.1f}" height="{ROW - 8}" '
                f'fill="{OURS if method == "ours" else OTHERS}"/>',
                f'<text x="{NAMES + width + 6:.1f}" y="{top + 14}">{value:.3f}</text>',
            ]
        top += ROW + 10
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<path d="M0 0h{WIDTH}v{top}h-{WIDTH}z" fill="#fff"/>',
        f'<text x="8" y="24" font-size="15">{escape(title)}</text>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
