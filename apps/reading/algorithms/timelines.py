"""When the reports of a story came, as a picture."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from html import escape

from apps.web.algorithms.charts import WIDTH

HEIGHT, GROUND = 46.0, 32.0
COLUMNS = 48
STEPS = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=3), timedelta(hours=6), timedelta(days=1))


def _day(at: datetime) -> str:
    return f"{at.day} {at:%b %H:%M}"


def _said(day: str, count: int) -> str:
    return f"{day}: {count} report{'s' if count > 1 else ''}"


def timeline(
    times: Sequence[datetime],
    *,
    label: str,
    written: Callable[[datetime], str] = _day,
    said: Callable[[str, int], str] = _said,
) -> str:
    """Columns of equal spans of time, the higher the more reports came in them; each says how many.

    Parameters
    ----------
    times : sequence of aware datetime
        Ascending, at least one.
    written, said : callable
        How a time is written, and what is told of a column, in the reader's language.

    >>> from datetime import UTC
    >>> noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> picture = timeline([noon, noon + timedelta(minutes=5), noon + timedelta(hours=2)], label="Reports")
    >>> picture.count("<rect"), "1 May 12:00: 2 reports" in picture
    (2, True)
    """
    first, last = times[0], times[-1]
    step = next((step for step in STEPS if (last - first) / step < COLUMNS), max(STEPS[-1], (last - first) / COLUMNS))
    counts = Counter(int((at - first) / step) for at in times)
    columns = max(counts) + 1
    most = max(counts.values())
    wide = min(WIDTH / columns, 24.0)
    bars = "".join(
        f'<rect class="timeline-bar" x="{place * wide + 0.5:.1f}" y="{GROUND - height:.1f}"'
        f' width="{max(wide - 1, 1):.1f}" height="{height:.1f}" rx="1.5">'
        f"<title>{escape(said(written(first + place * step), count))}</title></rect>"
        for place, count in sorted(counts.items())
        for height in [4 + (GROUND - 6) * count / most]
    )
    ends = (
        f'<text class="timeline-word" x="0" y="{HEIGHT - 2}">{escape(written(first))}</text>'
        f'<text class="timeline-word" x="{WIDTH}" y="{HEIGHT - 2}" text-anchor="end">{escape(written(last))}</text>'
    )
    return (
        f'<svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" class="timeline" role="img" aria-label="{escape(label)}">'
        f'<line class="timeline-ground" x1="0" x2="{WIDTH:.0f}" y1="{GROUND}" y2="{GROUND}"/>{bars}{ends}</svg>'
    )
