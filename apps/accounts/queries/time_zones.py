"""Time zones as people choose them."""

from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.conf import settings


@cache
def zone_names() -> list[str]:
    """Places by which people know their zone: neither abbreviations nor former names without a place."""
    return sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "SystemV/")))


def zone_named(name: str) -> ZoneInfo:
    """The zone that somebody chose; the portal's own if they chose none, or one that the tz database has dropped."""
    try:
        return ZoneInfo(name or settings.TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(settings.TIME_ZONE)
