"""The natural order of names, and manual orders of sources and folders, changed by steps or drags."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeVar, get_args
from unicodedata import normalize

Item = TypeVar("Item")
Step = Literal["first", "up", "down", "last"]
STEPS: tuple[Step, ...] = get_args(Step)
_NUMBER = re.compile(r"(\d+)")


@lru_cache(50_000)
def natural_key(name: str) -> tuple[str | int, ...]:
    """The key of a name in an order without regard to case, with numbers by their values, and é behind e.

    >>> sorted(["Feed 10", "feed 2", "Fez", "Été", "Feed"], key=natural_key)
    ['Été', 'Feed', 'feed 2', 'Feed 10', 'Fez']
    """
    # Texts and numbers alternate, so that only the same kinds are compared.
    parts = _NUMBER.split(normalize("NFD", name.casefold()))
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


def stepped(order: Sequence[Item], item: Item, step: Step) -> list[Item]:
    """The order after moving an item by a step; unchanged at the end.

    Parameters
    ----------
    order : (n,) sequence, all different

    Raises
    ------
    ValueError
        If the item is not in the order.

    Examples
    --------
    >>> stepped("abc", "c", "up"), stepped("abc", "c", "first"), stepped("abc", "c", "down")
    (['a', 'c', 'b'], ['c', 'a', 'b'], ['a', 'b', 'c'])
    """
    at = order.index(item)
    place = {"first": 0, "up": max(at - 1, 0), "down": at + 1, "last": len(order)}[step]
    others = [other for other in order if other != item]
    return [*others[:place], item, *others[place:]]


def placed(order: Sequence[Item], item: Item, before: Item | None) -> list[Item]:
    """The order with a new or moved item before another one; at the end if that is missing.

    >>> placed("abc", "c", "a"), placed("abc", "a", None), placed("abc", "d", "b"), placed("abc", "b", "b")
    (['c', 'a', 'b'], ['b', 'c', 'a'], ['a', 'd', 'b', 'c'], ['a', 'b', 'c'])
    """
    if item == before:
        return list(order)
    others = [other for other in order if other != item]
    place = others.index(before) if before is not None and before in others else len(others)
    return [*others[:place], item, *others[place:]]


def rearranged(whole: Sequence[Item], part: Sequence[Item]) -> list[Item]:
    """The whole order with the items of a part in the part's order, at the positions that they occupy together.

    This sorts a list of some sources, while all others keep their positions. Linear.

    Parameters
    ----------
    whole : (n,) sequence, all different
    part : (m,) sequence, all different and of the whole

    Raises
    ------
    ValueError
        If an item of the part is not in the whole, or is repeated.

    Examples
    --------
    >>> rearranged("abcdef", "fb")
    ['a', 'f', 'c', 'd', 'e', 'b']
    """
    members = set(part)
    if len(members) != len(part) or not members <= set(whole):
        raise ValueError("the part must consist of different items of the whole")
    waiting = iter(part)
    return [next(waiting) if item in members else item for item in whole]
