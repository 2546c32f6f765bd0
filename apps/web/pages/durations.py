"""Amounts of time in the words of the language that a page is answered in."""

import functools
from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from apps.web.algorithms import durations


def units() -> tuple[str, str, str, str]:
    """Of time, the largest first, as they are written behind a number."""
    return _units(get_language())


@functools.cache
def _units(language: str | None) -> tuple[str, str, str, str]:
    """In the language that is switched on, which the memory has to know of."""
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
    """A time within a year, in the zone of who reads."""
    return date_format(localtime(at), _("j M H:i"))
