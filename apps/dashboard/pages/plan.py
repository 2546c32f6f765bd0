"""The plan of all retrievals: settings, measured results, and the effect of other budgets."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.retrieval.actions.backtesting import MEASURED
from apps.retrieval.models import Backtest, Plan
from apps.retrieval.policies import all_policies
from apps.retrieval.queries.savings import USUAL, bytes_saved
from apps.retrieval.reports.delays import Day, delays_by_day
from apps.retrieval.reports.lateness import LATE_SECONDS, overdue, recent
from apps.retrieval.reports.portal import RECENT, SORTS, Shares
from apps.retrieval.reports.source import PlanOfSource, SourceProfile, current_plan, plan_of_source, staleness
from apps.sources.models import Source
from apps.web.algorithms.charts import Mark, Point, Spread, curve_chart, delay_chart, heat_map
from apps.web.pages import Context
from apps.web.pages.durations import span

DAYS_OF_SOURCE = 30
FROM_MONDAY = (1, 2, 3, 4, 5, 6, 0)  # of profiles, whose weeks begin on Sunday
BUSIEST = 3


def source_plan_page(user: User | AnonymousUser, source_id: int, now: datetime) -> Context | None:
    """The plan of a source that the user may see, or None; nine queries."""
    source = following.manageable_sources(user).filter(pk=source_id).first()
    if source is None:
        return None
    schedule = retrieval.schedule_of(source_id)
    plan = plan_of_source(source, schedule, now) if schedule else None
    days = tuple(delays_by_day(now, DAYS_OF_SOURCE, source_id))
    profile = plan.profile if plan else None
    return {
        "source": source,
        "schedule": schedule,
        "plan": plan,  # None without a schedule
        "profile_picture": _profile_picture(plan, profile) if plan and profile else SafeString(),  # empty without one
        "busiest": _busiest(profile) if profile else (),
        "local_time": _local_time(profile.utc_offset) if profile else "",
        "activity": activity_words(plan.state.activity.factor) if plan else "",
        "saved": bytes_saved(now - USUAL, now, source_id),
        "staleness": staleness(plan.state, now) if plan else None,  # None when no delay is known
        "days": days,
        "delay_picture": delay_picture(days),  # empty when no delay is known
    }


def delay_picture(days: tuple[Day, ...]) -> SafeString:
    """Mean and longest delay of each day; empty if there is none."""
    if all(day.mean is None for day in days):
        return SafeString()
    words = _("{column}: {mean} on average, {longest} at most")
    columns = []
    for day in days:
        name = date_format(day.day, _("j M"))
        title = words.format(column=name, mean=span(day.mean or 0), longest=span(day.longest))
        columns.append(Spread(name, day.mean, day.longest, title))
    label = _("Mean and longest delay of each day; the table has the same figures")
    return mark_safe(delay_chart(columns, label=label, format_seconds=span))


def activity_words(factor: float) -> str:
    """
    >>> activity_words(1.02), activity_words(1.42), activity_words(0.04)
    ('as much as usual', '1.4 times as much as usual', '0.04 times as much as usual')
    """
    if 0.95 < factor < 1.05:
        return _("as much as usual")
    number = f"{factor:.1f}" if factor >= 0.1 else f"{factor:.2g}"
    return _("{number} times as much as usual").format(number=number)


def _profile_picture(plan: PlanOfSource, profile: SourceProfile) -> SafeString:
    words = _("{day} {time}: check")
    marks = [
        Mark(
            FROM_MONDAY.index(coming.day),
            coming.hours,
            words.format(day=_weekday(coming.day), time=_clock(coming.hours)),
        )
        for coming in plan.coming
    ]
    values = [profile.hourly[day] for day in FROM_MONDAY]
    names = [_weekday(day) for day in FROM_MONDAY]
    label = _("Articles expected in each hour of the week, and the next checks")
    return mark_safe(heat_map(values, names, label=label, marks=marks))


def _busiest(profile: SourceProfile) -> tuple[str, ...]:
    hours = [(value, day, hour) for day, row in enumerate(profile.hourly) for hour, value in enumerate(row)]
    most = sorted(hours, key=lambda each: -each[0])[:BUSIEST]
    return tuple(f"{_weekday(day)} {hour}:00 ({value:.2g})" for value, day, hour in most if value > 0)


def _local_time(offset: int) -> str:
    """
    >>> _local_time(0), _local_time(120), _local_time(-210)
    ('UTC', 'UTC+2:00', 'UTC−3:30')
    """
    hours, minutes = divmod(abs(offset), 60)
    return f"UTC{'+' if offset > 0 else '−'}{hours}:{minutes:02}" if offset else "UTC"


def _clock(hours: float) -> str:
    minutes = int(hours * 60)
    return f"{minutes // 60}:{minutes % 60:02}"


def _weekday(day: int) -> str:
    """The name of a day of a profile; Sunday is 0, unlike in Django."""
    return str(WEEKDAYS[(day - 1) % 7])


LENGTH = 20
DAYS = 14


def plan_page(*, words: str, sort: str, number: str, now: datetime) -> Context:
    """Eleven queries."""
    plan, wanted = current_plan(), retrieval.wanted()
    budget = 24 * retrieval.hourly_budget(plan, wanted)
    used, measured = retrieval.spent(plan, now - RECENT, now), retrieval.delays(now - RECENT, now)
    curve = tuple(sorted((made, 3_600 * hours) for made, hours in plan.curve if made > 0 and hours > 0))
    expected = delay_at(curve, budget)
    counted = plan.get_counted_display()
    backtest = Backtest.objects.order_by("-at").first()
    days = tuple(delays_by_day(now, DAYS))
    sort = sort if sort in SORTS else "retrievals"
    found = Shares(words, sort, now)
    pages = Paginator(range(found.count()), LENGTH).get_page(number)
    first = (pages.number - 1) * LENGTH
    return {
        "plan": plan,
        "caught_up": plan.planned_revision == plan.revision,  # whether all due times follow the current plan
        "sources": wanted.count,  # that are checked
        "per_source": budget / wanted.count if wanted.count else 0.0,  # budget of a source and day
        "is_replay": Source.objects.exclude(clock_rate=1).exists(),
        "budget": budget,  # of a day and all sources, checks or kilobytes
        "used": used,  # of it in the last 24 hours
        "in_bytes": plan.counted == Plan.Counted.BYTES,
        "expected": expected,  # s, mean delay at the budget
        "measured": measured,  # of the last 24 hours
        "curve": curve,  # budget of a day, mean delay in s
        "curve_picture": _curve_picture(
            counted, curve, _points(counted, budget, expected, used, measured.mean)
        ),  # empty while there is no curve
        "backtest": backtest,  # the latest one; None before the first
        "ranking": ranking(backtest, plan.policy) if backtest else (),
        "patterns_picture": _patterns_picture(backtest) if backtest else SafeString(),
        "late_seconds": LATE_SECONDS,
        "lateness": recent(now),  # of the last 24 hours
        "overdue": overdue(now),
        "days": days,
        "delay_picture": delay_picture(days),  # empty when no delay is known
        "pages": pages,
        "shares": tuple(found.read(first, first + LENGTH)),  # of this page
        "words": words,
        "sort": sort,
    }


def ranking(backtest: Backtest, active: str) -> list[tuple[str, bool, dict[str, float]]]:
    """The label of each policy, whether it is active, and its `measures`; the shortest mean delay first."""
    labels = {name: gettext(policy.label) for name, policy in all_policies().items()} | {MEASURED: _("As it was")}
    rows = [(labels.get(name, name), name == active, found) for name, found in backtest.results.items()]
    return sorted(rows, key=lambda row: row[2]["mean"])


def _patterns_picture(backtest: Backtest) -> SafeString:
    names = [str(sources) for sources, _shares in backtest.patterns]
    label = _("Share of a day's articles in each hour, UTC, of each pattern; the table has their numbers of feeds")
    return mark_safe(heat_map([shares for _sources, shares in backtest.patterns], names, label=label))


def delay_at(curve: Sequence[tuple[float, float]], retrievals: float) -> float | None:
    """The mean delay at a number of retrievals, interpolated on the curve and constant beyond its ends.

    >>> delay_at([(10.0, 100.0), (40.0, 25.0)], 20.0)
    50.0
    """
    if not curve or retrievals <= 0:
        return None
    made, delays = np.log(np.array(curve)).T
    return round(float(np.exp(np.interp(np.log(retrievals), made, delays))), 6)


def _points(counted: str, budget: float, expected: float | None, used: float, measured: float | None) -> list[Point]:
    points = []
    if expected:
        words = _("budget: {number} per day, {delay} expected")
        points.append(Point(budget, expected, "meant", words.format(number=f"{budget:,.0f}", delay=span(expected))))
    if used and measured:
        words = _("last 24 hours: {number} {counted}, {delay} measured")
        title = words.format(number=f"{used:,.0f}", counted=counted, delay=span(measured))
        points.append(Point(used, measured, "measured", title))
    return points


def _curve_picture(counted: str, curve: Sequence[tuple[float, float]], points: Sequence[Point]) -> SafeString:
    if not curve:
        return SafeString()
    label = _("Expected mean delay by the budget of a day; the table has the same figures")
    x_label = _("{counted} per day").format(counted=counted)
    return mark_safe(curve_chart(curve, points, label=label, x_label=x_label, format_seconds=span))
