"""Time zones to choose from."""

from collections.abc import Mapping
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.conf import settings

COOKIE = "zone"  # set by static/js/times.js


@cache
def zone_names() -> list[str]:
    """UTC and zones named after places, without abbreviations and obsolete names."""
    places = (name for name in _all_names() if "/" in name and not name.startswith(("Etc/", "SystemV/")))
    return ["UTC", *sorted(places)]


@cache
def _all_names() -> frozenset[str]:
    return frozenset(available_timezones())


def browser_zone(cookies: Mapping[str, str]) -> str:
    """The zone that the browser has named, empty if there is none of that name."""
    name = cookies.get(COOKIE, "")
    return name if name in _all_names() else ""


def zone_named(name: str) -> ZoneInfo:
    """The zone of that name; the portal's own if it is empty or unknown."""
    try:
        return ZoneInfo(name or settings.TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(settings.TIME_ZONE)
