"""The schedule of a source and its reasons, with charts."""

from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.retrieval.reports.delays import Day, delays_by_day
from apps.retrieval.reports.source import PlanOfSource, SourceProfile, plan_of_source
from apps.web.algorithms.charts import Mark, Spread, delay_chart, heat_map
from apps.web.pages import Context
from apps.web.pages.durations import span

DAYS = 30
FROM_MONDAY = (1, 2, 3, 4, 5, 6, 0)  # of profiles, whose weeks begin on Sunday
BUSIEST = 3


def source_plan_page(user: User | AnonymousUser, source_id: int, now: datetime) -> Context | None:
    """The plan of a source that the user may see, or None; seven queries."""
    source = following.manageable_sources(user).filter(pk=source_id).first()
    if source is None:
        return None
    schedule = retrieval.schedule_of(source_id)
    plan = plan_of_source(source, schedule, now) if schedule else None
    days = tuple(delays_by_day(now, DAYS, source_id))
    profile = plan.profile if plan else None
    return {
        "source": source,
        "schedule": schedule,
        "plan": plan,  # None without a schedule
        "profile_picture": _profile_picture(plan) if plan else SafeString(),  # empty while no profile is known
        "busiest": _busiest(profile) if profile else (),
        "local_time": _local_time(profile.utc_offset) if profile else "",
        "activity": activity_words(plan.remembered.activity.factor) if plan else "",
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


def _profile_picture(plan: PlanOfSource) -> SafeString:
    if plan.profile is None:
        return SafeString()
    words = _("{day} {time}: check")
    marks = [
        Mark(
            FROM_MONDAY.index(coming.day),
            coming.hours,
            words.format(day=_weekday(coming.day), time=_clock(coming.hours)),
        )
        for coming in plan.coming
    ]
    values = [plan.profile.hourly[day] for day in FROM_MONDAY]
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
