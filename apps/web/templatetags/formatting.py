"""Filters and tags that format times, amounts and choices."""

import functools
import re
from datetime import date, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import urlencode

from django import template
from django.templatetags.static import static
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone, localtime
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.alerts import send_to
from apps.alerts.channels import all_channels
from apps.following.queries.counts import MAX_COUNTED
from apps.retrieval.models import Schedule
from apps.retrieval.queries.lateness import overdue_since
from apps.sources.algorithms.addresses import http_address
from apps.web.pages import durations
from apps.web.pages.offline_shell import person_key
from apps.web.pages.reasons import translate_reason

register = template.Library()
_MARKDOWN = re.compile(r"[\\`*_\[\]<>#|~!]|(?<=^\d)\.|^[-+=]")

WEEK = 604_800  # seconds
register.filter("span", durations.span)
register.filter("web", http_address)


@register.filter
def channel_label(name: str) -> str:
    channel = {send_to.NAME: send_to.CHANNEL, **all_channels()}.get(name)
    return str(channel.label) if channel else name


@register.filter
def counted(unread: int | None) -> str:
    """
    >>> counted(0), counted(12), counted(1_000)
    ('', '12', '1,000+')
    """
    return f"{MAX_COUNTED:,}+" if unread and unread >= MAX_COUNTED else str(unread or "")


@register.filter
def markdown(text: str) -> str:
    """A text as one line of Markdown, with its signs escaped.

    >>> markdown("2 * 3\\n<b>"), markdown("1. _x_")
    ('2 \\\\* 3 \\\\<b\\\\>', '1\\\\. \\\\_x\\\\_')
    """
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))


@register.filter
def ago(at: datetime, now: datetime) -> SafeString:
    """A relative time, with the exact one as its title."""
    zone, language, seconds = get_current_timezone(), get_language(), passed(at, now)
    if seconds < WEEK:
        relative = _relative(seconds, language)
    else:
        relative = _day(localtime(at, zone).date(), at.year == now.year, language)
    return SafeString(f'<time datetime="{at.isoformat()}" title="{_exact(at, zone, language)}">{relative}</time>')


def passed(at: datetime, now: datetime) -> int:
    """Seconds since then in whole minutes, hours or days, at most a week: `ago` shows no more of them.

    >>> now = datetime(2024, 2, 29, 12)
    >>> [passed(now - timedelta(seconds=seconds), now) for seconds in (119.5, 90_000, 10**6, -3_700)]
    [60, 86400, 604800, -3600]
    """
    seconds = int((now - at).total_seconds())
    if seconds >= WEEK:
        return WEEK
    unit = next((length for length in (86_400, 3_600, 60) if abs(seconds) >= length), 1)
    return int(seconds / unit) * unit


# These are cached, since lists show many times that are alike; the language is only part of the key.
@functools.lru_cache(maxsize=5_000)
def _exact(at: datetime, zone: tzinfo, language: str | None) -> str:
    local = localtime(at, zone)
    return escape(f"{_until_clock(local.date(), language)}{local:%H:%M:%S} {local.tzname()}")


@functools.lru_cache(maxsize=1_000)
def _until_clock(day: date, language: str | None) -> str:
    return date_format(day, _("j F Y, H:i:s e").removesuffix("H:i:s e"))  # in all languages the end


@functools.lru_cache(maxsize=1_000)
def _relative(seconds: int, language: str | None) -> str:
    if seconds < 0:
        return escape(_("in {time}").format(time=duration(timedelta(seconds=-seconds))))
    return escape(_("{time} ago").format(time=duration(timedelta(seconds=seconds))) if seconds >= 60 else _("now"))


@functools.lru_cache(maxsize=1_000)
def _day(day: date, is_this_year: bool, language: str | None) -> str:
    return escape(date_format(day, _("j M") if is_this_year else _("j M Y")))


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
def minutes(number: float) -> str:
    """
    >>> minutes(44.8)
    '45 min'
    """
    return durations.span(60 * number)


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


class Constant(template.Node):
    def __init__(self, nodes: template.NodeList) -> None:
        self._nodes = nodes
        self._drawn: dict[str | None, SafeString] = {}  # by language

    def render(self, context: template.Context) -> SafeString:
        language = get_language()
        if language not in self._drawn:
            self._drawn[language] = self._nodes.render(context)
        return self._drawn[language]


@register.tag
def constant(parser: template.base.Parser, token: template.base.Token) -> Constant:
    """Render once what is the same on all pages of a language."""
    nodes = parser.parse(("endconstant",))
    parser.delete_first_token()
    return Constant(nodes)
