"""Durations in the active language."""

import functools
from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from apps.web.algorithms import durations


def units() -> tuple[str, str, str, str]:
    """The abbreviations of days, hours, minutes and seconds."""
    return _units(get_language())


@functools.cache
def _units(language: str | None) -> tuple[str, str, str, str]:
    """In the active language, which is the cache's key."""
    return (
        pgettext("days", "d"),
        pgettext("hours", "h"),
        pgettext("minutes", "min"),
        pgettext("seconds", "s"),
    )


def span(seconds: float) -> str:
    """
    >>> span(95 * 60)
    '1 h 35 min'
    """
    return durations.span(seconds, units(), _("forever"))


def day_and_time(at: datetime) -> str:
    """A time within a year, in the reader's time zone."""
    return date_format(localtime(at), _("j M H:i"))
