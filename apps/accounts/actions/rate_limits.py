"""How often somebody may do what is costly or can be guessed."""

from django.core.cache import cache


def is_within(what: str, who: object, *, most: int, seconds: int) -> bool:
    """Count one more of these, and say whether it is one of the first `most` since the first within `seconds`."""
    return counted(what, who, seconds=seconds) <= most


def counted(what: str, who: object, *, seconds: int) -> int:
    """Count one more of these; how many there were since the first within `seconds`."""
    name = _name(what, who)
    cache.add(name, 0, seconds)
    try:
        return int(cache.incr(name))
    except ValueError:  # it ended between the two
        return 1


def is_reached(what: str, who: object, *, most: int) -> bool:
    """Whether one more would be too many; nothing is counted."""
    return bool(cache.get(_name(what, who), 0) >= most)


def _name(what: str, who: object) -> str:
    return f"limit:{what}:{who}"
