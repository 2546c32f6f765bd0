"""The current activity of a source relative to its profile: a Gamma posterior of one factor."""

from typing import Any, NamedTuple

PRIOR = 10.0  # postings seen, and expected, before any were
HALF_LIFE = 72.0  # h after which observed postings count half


class Activity(NamedTuple):
    """The factor z on a profile's rate is Gamma distributed with mean seen / expected.

    Fields are floats, or arrays of one shape for several sources.
    """

    seen: Any = PRIOR
    expected: Any = PRIOR

    @property
    def factor(self) -> Any:
        return self.seen / self.expected

    def after(self, hours: Any, seen: Any, expected: Any) -> "Activity":
        """The posterior after `seen` postings in `hours` in which the profile alone expected `expected`.

        What was known before fades towards the prior with a half-life of three days.

        >>> Activity().after(24.0, 2 * PRIOR, PRIOR / 2).factor
        2.0
        >>> round(Activity(PRIOR + 100, PRIOR).after(HALF_LIFE, 0, 0.0).seen - PRIOR, 6)
        50.0
        """
        faded = 0.5 ** (hours / HALF_LIFE)
        return Activity(PRIOR + (self.seen - PRIOR) * faded + seen, PRIOR + (self.expected - PRIOR) * faded + expected)
