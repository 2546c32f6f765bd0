"""Factors of scores: freshness of a posting, and authority of its source by followers.

Both explain their effect. Collections with judgements have neither times nor followers, so that
their strength is a matter of taste and not of measurement.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Plural = Callable[[str, str, int], str]  # of a sentence about one and one about many, that for a number


def in_english(one: str, many: str, number: int) -> str:
    return one if number == 1 else many


@dataclass(frozen=True)
class Freshness:
    """``(1 + strength * 2 ** (-age / half_life)) / (1 + strength)``: from 1 down to 1 / (1 + strength)."""

    strength: float = 3.0
    half_life: float = 14.0  # days

    def factors(self, ages: ArrayLike) -> NDArray[np.float32]:
        """One factor per posting, within (0, 1].

        Parameters
        ----------
        ages : (n,) array_like of float
            Days since each was published; what is of the future counts as new.

        Examples
        --------
        >>> Freshness(strength=1, half_life=7).factors([-1, 0, 7, 700]).tolist()
        [1.0, 1.0, 0.75, 0.5]
        """
        age = np.maximum(np.asarray(ages, np.float64), 0)
        return np.asarray((1 + self.strength * 2 ** (-age / self.half_life)) / (1 + self.strength), np.float32)

    def explanation(self, age: float, ngettext: Plural = in_english) -> str:
        """What it did to a posting of this age, in the language that `ngettext` knows.

        >>> Freshness(strength=1, half_life=7).explanation(7)
        '7 days old: score × 0.75'
        """
        days = max(0, round(age))
        text = ngettext("{number} day old: score × {factor}", "{number} days old: score × {factor}", days)
        return text.format(number=f"{days:,}", factor=f"{float(self.factors(age)):.2f}")


@dataclass(frozen=True)
class Authority:
    """``(1 + strength * a) / (1 + strength)`` with ``a = ln(1 + followers) / ln(1 + most followers of any source)``."""

    strength: float = 0.5

    def factors(self, followers: ArrayLike, most: int) -> NDArray[np.float32]:
        """One factor per source, within (0, 1].

        Parameters
        ----------
        followers : (n,) array_like of int
            People who follow each source.
        most : int
            Followers of the source that has most of them; if it is 0, all factors are 1.

        Examples
        --------
        >>> Authority(strength=1).factors([0, 9, 99], 99).tolist()
        [0.5, 0.75, 1.0]
        """
        count = np.minimum(np.maximum(np.asarray(followers, np.float64), 0), most)
        share = np.log1p(count) / np.log1p(most) if most > 0 else np.ones_like(count)
        return np.asarray((1 + self.strength * share) / (1 + self.strength), np.float32)

    def explanation(self, followers: int, most: int, ngettext: Plural = in_english) -> str:
        """What it did to a posting of such a source, in the language that `ngettext` knows.

        >>> Authority(strength=1).explanation(9, 99)
        '9 people follow its feed: score × 0.75'
        """
        text = ngettext(
            "{number} person follows its feed: score × {factor}",
            "{number} people follow its feed: score × {factor}",
            followers,
        )
        return text.format(number=f"{followers:,}", factor=f"{float(self.factors(followers, most)):.2f}")
