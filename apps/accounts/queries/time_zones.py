"""Time zones to choose from."""

from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.conf import settings


@cache
def zone_names() -> list[str]:
    """Zones named after places, without abbreviations and obsolete names."""
    return sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "SystemV/")))


def zone_named(name: str) -> ZoneInfo:
    """The zone of that name; the portal's own if it is empty or unknown."""
    try:
        return ZoneInfo(name or settings.TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(settings.TIME_ZONE)
