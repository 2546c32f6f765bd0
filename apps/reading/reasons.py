"""Why a source is asked when it is: sentences that are kept in English, told in the language of who reads.

They are written with the numbers of their day, long before anybody reads them. A sentence is known by its shape, which
is what stands between the numbers; one whose shape nobody translated stays as it was written.
"""

import re

from django.utils.translation import gettext, gettext_noop

SHAPES = (
    gettext_noop("first check"),
    gettext_noop("followed again"),
    gettext_noop("nobody follows it, or it is paused"),
    gettext_noop("its worker stopped"),
    gettext_noop("its address changed"),
    gettext_noop("found by the crawl"),
    gettext_noop("as early as the rate limit allows"),
    gettext_noop("routine check: its publisher sends updates itself"),
    gettext_noop("the next time in its timetable"),
    gettext_noop("page of weight {0}, update expected with probability {1}"),
    gettext_noop("the {0}-hour limit: too little is expected to justify an earlier check"),
    gettext_noop("{0} articles expected by then; an earlier check would cost more than it saves"),
    gettext_noop("its host is busy"),
    gettext_noop("gone for good"),
    gettext_noop("the minimum gap"),
    gettext_noop("{0} times the minimum gap: the site asked to slow down"),
    gettext_noop(
        "the site does not support conditional requests (no ETag, no Last-Modified), so it is checked once a day"
    ),
    gettext_noop("the site asked to wait {0} s (Retry-After)"),
    gettext_noop("the site refused with status {0}"),
    gettext_noop("back-off after {0} failure in a row"),
    gettext_noop("back-off after {0} failures in a row"),
    gettext_noop("the response can be cached for {0} s (Cache-Control)"),
    gettext_noop("the response can be cached for {0} s (Expires)"),
    gettext_noop("the feed asks for no check within {0} s (ttl)"),
    gettext_noop("the feed asks for no check before that time (skipHours, skipDays)"),
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")


def reason_said(reason: str) -> str:
    """
    >>> reason_said("it asked to wait 120 s (Retry-After)"), reason_said("of {no} known shape")
    ('it asked to wait 120 s (Retry-After)', 'of {no} known shape')
    """
    shape, numbers = shape_of(reason)
    return gettext(shape).format(*numbers) if shape in SHAPES else reason


def shape_of(reason: str) -> tuple[str, list[str]]:
    """
    >>> shape_of("page of weight 1.5, update expected with probability 0.2")
    ('page of weight {0}, update expected with probability {1}', ['1.5', '0.2'])
    """
    numbers = _NUMBER.findall(reason)
    places = iter(range(len(numbers)))
    return _NUMBER.sub(lambda _: f"{{{next(places)}}}", reason), numbers
