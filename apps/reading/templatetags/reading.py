"""How times, amounts and choices are written."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import template
from django.templatetags.static import static
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

register = template.Library()


@register.filter
def ago(at: datetime, now: datetime) -> SafeString:
    """A time as people say it, with the exact one for who points at it."""
    exact = date_format(localtime(at), "j F Y, H:i:s e")
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, _said(at, now))


def _said(at: datetime, now: datetime) -> str:
    gap = now - at
    if gap <= -timedelta(seconds=1):
        return f"in {duration(-gap)}"
    if gap < timedelta(minutes=1):
        return "now"
    if gap < timedelta(days=7):
        return f"{duration(gap)} ago"
    return date_format(localtime(at), "j M" if at.year == now.year else "j M Y")


@register.filter
def duration(span: timedelta) -> str:
    """
    >>> duration(timedelta(minutes=95)), duration(timedelta(seconds=3.2)), duration(timedelta(days=3))
    ('1 h', '3 s', '3 d')
    """
    seconds = int(span.total_seconds())
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


@register.filter
def bytes_written(count: int) -> str:
    """
    >>> bytes_written(512), bytes_written(20_480)
    ('512 B', '20 kB')
    """
    return f"{count} B" if count < 1_000 else f"{count // 1_000:,} kB"


@register.simple_tag(takes_context=True)
def query(context: dict[str, Any], **changes: object) -> str:
    """The page's own query string with some values changed, or left out where the new value is empty."""
    values = context["request"].GET.dict() | changes
    return "?" + urlencode({name: value for name, value in values.items() if value not in ("", None)})


@register.simple_tag
def icon(name: str) -> SafeString:
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons.svg"), name)
