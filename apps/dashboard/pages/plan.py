"""The plan of all retrievals: settings, measured results, and the effect of other budgets."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from django.core.paginator import Paginator
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from apps.dashboard.pages.source_plan import delay_picture
from apps.retrieval import queries as retrieval
from apps.retrieval.reports.delays import delays_by_day
from apps.retrieval.reports.lateness import overdue, recent
from apps.retrieval.reports.portal import RECENT, SORTS, Hour, Shares, retrievals_by_hour, trouble
from apps.retrieval.reports.source import current_plan
from apps.web.algorithms.charts import Point, bar_chart, curve_chart
from apps.web.pages import Context
from apps.web.pages.durations import span

LENGTH = 20
HOURS = 48
DAYS = 14


def plan_page(*, words: str, sort: str, number: str, now: datetime) -> Context:
    """Eleven queries."""
    plan, wanted = current_plan(), retrieval.wanted()
    budget = 24 * retrieval.hourly_budget(plan, wanted)
    used, measured = retrieval.requests_made(now - RECENT, now), retrieval.delays(now - RECENT, now)
    curve = tuple(sorted((made, 3_600 * hours) for made, hours in plan.curve if made > 0 and hours > 0))
    expected = delay_at(curve, budget)
    hours = tuple(retrievals_by_hour(now, HOURS))
    days = tuple(delays_by_day(now, DAYS))
    sort = sort if sort in SORTS else "retrievals"
    found = Shares(words, sort, now)
    pages = Paginator(range(found.count()), LENGTH).get_page(number)
    first = (pages.number - 1) * LENGTH
    return {
        "plan": plan,
        "caught_up": plan.planned_revision == plan.revision,  # whether all due times follow the current plan
        "sources": wanted.count,  # that are checked
        "hourly": budget / 24,  # budget
        "budget": budget,  # retrievals a day of all sources
        "used": used,  # retrievals of the last 24 hours
        "expected": expected,  # s, mean delay at the budget
        "measured": measured,  # of the last 24 hours
        "curve": curve,  # retrievals a day, mean delay in s
        "curve_picture": _curve_picture(
            curve, _points(budget, expected, used, measured.mean)
        ),  # empty while there is no curve
        "hours": hours,
        "hours_picture": _hours_picture(hours, budget / 24),
        "lateness": recent(now),  # of the last 24 hours
        "overdue": overdue(now),
        "trouble": trouble(plan, now),
        "days": days,
        "delay_picture": delay_picture(days),  # empty when no delay is known
        "pages": pages,
        "shares": tuple(found.read(first, first + LENGTH)),  # of this page
        "words": words,
        "sort": sort,
    }


def delay_at(curve: Sequence[tuple[float, float]], retrievals: float) -> float | None:
    """The mean delay at a number of retrievals, interpolated on the curve and constant beyond its ends.

    >>> delay_at([(10.0, 100.0), (40.0, 25.0)], 20.0)
    50.0
    """
    if not curve or retrievals <= 0:
        return None
    made, delays = np.log(np.array(curve)).T
    return round(float(np.exp(np.interp(np.log(retrievals), made, delays))), 6)


def _points(budget: float, expected: float | None, used: int, measured: float | None) -> list[Point]:
    points = []
    if expected:
        words = _("budget: {number} per day, {delay} expected")
        points.append(Point(budget, expected, "meant", words.format(number=f"{budget:,.0f}", delay=span(expected))))
    if used and measured:
        words = _("last 24 hours: {number} checks, {delay} measured")
        points.append(Point(used, measured, "measured", words.format(number=f"{used:,}", delay=span(measured))))
    return points


def _curve_picture(curve: Sequence[tuple[float, float]], points: Sequence[Point]) -> SafeString:
    if not curve:
        return SafeString()
    label = _("Expected mean delay by checks per day; the table has the same figures")
    return mark_safe(curve_chart(curve, points, label=label, x_label=_("checks per day"), format_seconds=span))


def _hours_picture(hours: Sequence[Hour], planned: float) -> SafeString:
    return mark_safe(
        bar_chart(
            [hour.retrievals for hour in hours],
            [f"{hour.begins_at:%H:%M}" for hour in hours],
            label=_("Checks in each of the last 48 hours; the line is the plan"),
            titles=[_hour_title(hour) for hour in hours],
            level=planned,
        )
    )


def _hour_title(hour: Hour) -> str:
    end = hour.begins_at + timedelta(hours=1)
    words = _("{begin} to {end} UTC: {number} checks")
    begin = date_format(hour.begins_at, _("d M H:i"))
    return words.format(begin=begin, end=f"{end:%H:%M}", number=f"{hour.retrievals:,}")
