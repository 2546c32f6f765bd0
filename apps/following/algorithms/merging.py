"""Which of several changes of one thing stands: the one that was made last, in whatever order they are heard of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

ON_ITS_WAY = timedelta(seconds=30)  # the longest that a message takes to us, where networks are bad

Place = tuple[int, str]  # of which thing what is changed, as the star of posting 7


@dataclass(frozen=True, slots=True)
class Change:
    place: Place
    value: bool
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Merged:
    values: dict[Place, Change]  # the change that stands at each place where one of the new ones does
    stood: tuple[bool, ...]  # whether each change was newer than what was there, in their order


def merged(changed_at: Mapping[Place, datetime], changes: Sequence[Change]) -> Merged:
    """Let changes stand where nothing newer does.

    Parameters
    ----------
    changed_at : mapping
        When each place was last changed as far as anybody knows; places that never were are left out.
    changes : sequence of Change
        In the order in which one device made them. Of two made at one moment the later of the sequence stands, while
        what was known before stands against a change of the same moment: heard of again, it changes nothing.

    Returns
    -------
    Merged

    Notes
    -----
    A register in which the last writer wins [1]_: sets of changes whose times differ lead to the same values however
    they are split up and ordered. O(n log n).

    References
    ----------
    .. [1] M. Shapiro, N. Preguiça, C. Baquero, M. Zawirski, "A comprehensive study of Convergent and Commutative
       Replicated Data Types", INRIA RR-7506, 2011, section 3.2.1.

    Examples
    --------
    Starred in the train at 9 and 10 o'clock, while the star was taken off elsewhere in between:

    >>> from datetime import UTC
    >>> nine, half_past, ten = (datetime(2024, 5, 1, *at, tzinfo=UTC) for at in [(9, 0), (9, 30), (10, 0)])
    >>> star = (7, "starred")
    >>> done = merged({star: half_past}, [Change(star, True, nine), Change(star, True, ten)])
    >>> done.stood, done.values[star].made_at == ten
    ((False, True), True)
    """
    values: dict[Place, Change] = {}
    stood = [False] * len(changes)
    for index in sorted(range(len(changes)), key=lambda index: changes[index].made_at):
        change = changes[index]
        known = changed_at.get(change.place)
        if known is None or change.made_at > known:
            values[change.place] = change
            stood[index] = True
    return Merged(values, tuple(stood))


def by_our_clock(made_at: datetime, *, sent_at: datetime, now: datetime) -> datetime:
    """When something was made, of which a device says when that was and when it told us, both by its own clock.

    A message that seems to have been `ON_ITS_WAY` at most came from a clock that goes right, so the time stands as it
    is told. Any other clock may go wrong by years: what was made lies as far before `now` as it does before `sent_at`.
    Nothing was made after `now`.

    >>> from datetime import UTC
    >>> noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> by_our_clock(datetime(2031, 1, 1, 8, tzinfo=UTC), sent_at=datetime(2031, 1, 1, 9, tzinfo=UTC), now=noon).hour
    11
    """
    if timedelta(0) <= now - sent_at <= ON_ITS_WAY:
        return min(now, made_at)
    return min(now, now - (sent_at - made_at))
