"""Filters and tags that format times, amounts and choices."""

import functools
from datetime import datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import urlencode

from django import template
from django.templatetags.static import static
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone, localtime
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.alerts.channels import all_channels
from apps.retrieval.models import Schedule
from apps.retrieval.queries.lateness import overdue_since
from apps.sources.algorithms.addresses import http_address
from apps.web.pages import durations
from apps.web.pages.offline_shell import person_key
from apps.web.pages.reasons import translate_reason

register = template.Library()
register.filter("span", durations.span)
register.filter("web", http_address)


@register.filter
def channel_label(name: str) -> str:
    channel = all_channels().get(name)
    return str(channel.label) if channel else name


@register.filter
def ago(at: datetime, now: datetime) -> SafeString:
    """A relative time, with the exact one as its title."""
    exact = _exact(at, get_current_timezone(), get_language())
    return mark_safe(f'<time datetime="{at.isoformat()}" title="{exact}">{escape(_relative(at, now))}</time>')


@functools.lru_cache(maxsize=20_000)
def _exact(at: datetime, zone: tzinfo, language: str | None) -> str:
    """Cached, since many users see the same postings; the language is only part of the key."""
    return escape(date_format(localtime(at, zone), _("j F Y, H:i:s e")))


def _relative(at: datetime, now: datetime) -> str:
    gap = now - at
    if gap <= -timedelta(seconds=1):
        return _("in {time}").format(time=duration(-gap))
    if gap < timedelta(minutes=1):
        return _("now")
    if gap < timedelta(days=7):
        return _("{time} ago").format(time=duration(gap))
    return date_format(localtime(at), _("j M") if at.year == now.year else _("j M Y"))


@register.filter
def duration(span: timedelta) -> str:
    """
    >>> duration(timedelta(minutes=95)), duration(timedelta(seconds=3.2)), duration(timedelta(days=3))
    ('1 h', '3 s', '3 d')
    """
    seconds = int(span.total_seconds())
    *larger, smallest = durations.units()
    for length, unit in zip((86_400, 3_600, 60), larger, strict=True):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} {smallest}"


@register.filter
def reason(written: str | None) -> str:
    return translate_reason(written or "")


@register.filter
def seconds(number: float) -> str:
    """With two decimals below ten seconds, for diagnosis.

    >>> seconds(0.178), seconds(1_440.2)
    ('0.18 s', '24 min')
    """
    return f"{number:.2f} {durations.units()[3]}" if number < 10 else durations.span(number)


@register.filter
def is_overdue(schedule: Schedule, now: datetime) -> bool:
    return overdue_since(schedule, now) is not None


@register.filter
def hours(number: float) -> str:
    """
    >>> hours(1.5)
    '1 h 30 min'
    """
    return durations.span(3_600 * number)


@register.filter
def hours_of_ten(posting_hours: float) -> str:
    """The wait of each of ten postings that wait this long together."""
    return hours(posting_hours / 10)


@register.filter
def percent_of(part: float, whole: float) -> str:
    """
    >>> percent_of(1, 8), percent_of(1, 3_000)
    ('12.5 %', '0.033 %')
    """
    share = 100 * part / whole
    return f"{share:.1f} %" if share >= 1 or not share else f"{share:.2g} %"


@register.filter
def about(number: float) -> str:
    """An amount to about two digits.

    >>> about(0.123), about(7.04), about(7.46), about(123.4), about(12_345.0)
    ('0.12', '7', '7.5', '123', '12,345')
    """
    if abs(number) >= 10:
        return f"{number:,.0f}"
    return f"{number:.1f}".removesuffix(".0") if abs(number) >= 1 else f"{number:.2g}"


@register.filter
def bytes_written(count: int) -> str:
    """
    >>> bytes_written(512), bytes_written(20_480)
    ('512 B', '20 kB')
    """
    return f"{count} B" if count < 1_000 else f"{count // 1_000:,} kB"


@register.simple_tag(takes_context=True)
def query(context: dict[str, Any], **changes: object) -> str:
    """The page's query string with some values changed, or removed if empty."""
    values = context["request"].GET.dict() | changes
    return "?" + urlencode({name: value for name, value in values.items() if value not in ("", None)})


@register.simple_tag(takes_context=True)
def person(context: dict[str, Any]) -> str:
    """The user's pseudonym for stored pages."""
    return person_key(context["request"].user)


@register.simple_tag
@functools.cache
def icon(name: str) -> SafeString:
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons.svg"), name)
