"""Rate limits on what is costly or can be guessed."""

from django.core.cache import cache


def is_within(what: str, who: object, *, most: int, seconds: int) -> bool:
    """Count an event; whether it is one of the first `most` within `seconds` of the first."""
    return counted(what, who, seconds=seconds) <= most


def counted(what: str, who: object, *, seconds: int) -> int:
    """Count an event; returns the number of events within `seconds` of the first."""
    name = f"limit:{what}:{who}"
    cache.add(name, 0, seconds)
    try:
        return int(cache.incr(name))
    except ValueError:  # expired in between
        return 1
