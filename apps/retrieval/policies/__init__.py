"""Policies of retrieval, each a module of this package that defines `POLICY`, a `Policy`.

The module's name is what `Plan.policy` stores; being in this package is all that registers it: it can be chosen for
the plan, and `evaluate_retrieval` compares it with the others. Policies are pure. Most turn what was learned of all
sources into one timetable for each; one that `reacts` is replanned after each retrieval instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

from apps.database.registry import entries, gettext_noop
from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.cam.weeks import Weeks
from apps.retrieval.algorithms.sia.learning import Learned
from apps.retrieval.algorithms.sia.policies import Rule
from apps.retrieval.algorithms.timetables import Timetable

OURS = "ours"
SAME = "same"  # pages have the policy of all other sources
SEED = 12


@dataclass(frozen=True)
class Fleet:
    """The sources that get timetables, and what policies know of them."""

    worths: FloatArray
    min_gaps: FloatArray  # h
    least: float  # retrievals a day of each source
    most: ArrayLike
    longest: float  # h between two retrievals of a source
    learned: Callable[[], Learned]  # rates and daily patterns of the last two weeks
    weeks: Callable[[], tuple[Weeks, FloatArray]]  # chances of updates in each hour of the week, and their doubt
    seed: int = SEED  # of the timetables' phases


# A timetable of each source, and the probability of an update at each of its times or nothing.
Timetables = tuple[Sequence[Timetable], Sequence[FloatArray]]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The interface of a module: what varies between policies."""

    label: str  # for people, marked with `gettext_noop`
    timetables: Callable[[Fleet, float], Timetables] | None = None  # for a number of retrievals per day and source
    for_pages: bool = False  # may be chosen for pages alone; those without a timetable are checked often first
    is_replayed: bool = True  # each night, on the portal's own log
    name: str = ""  # the module's

    @property
    def reacts(self) -> bool:
        return self.timetables is None


def by_rule(rule: Rule, label: str, *, is_replayed: bool = True) -> Policy:
    """A policy based on the rates and patterns of `sia.learning`."""
    return Policy(label=label, timetables=partial(_timetables, rule), is_replayed=is_replayed)


def _timetables(rule: Rule, fleet: Fleet, per_day: float) -> Timetables:
    random = np.random.default_rng(fleet.seed)
    made = rule(fleet.learned(), per_day, random=random, weights=fleet.worths, least=fleet.least, most=fleet.most)
    return made, [np.empty(0)] * len(made)


@cache
def all_policies() -> Mapping[str, Policy]:
    """The policies by their names; our own comes first."""
    found = {
        name: replace(policy, name=name) for name, policy in entries(__name__, "POLICY", group="wirebeat.policies")
    }
    return {OURS: found[OURS]} | found


def policy_of(name: str, pages_name: str = SAME, *, pages: bool = False) -> Policy:
    """The policy of this name, or of pages without a feed; our own if its module was removed."""
    chosen = pages_name if pages and pages_name != SAME else name
    return all_policies().get(chosen, all_policies()[OURS])


def pages_policies() -> list[str]:
    """The choices for the policy of pages."""
    return [SAME, *(policy.name for policy in all_policies().values() if policy.for_pages)]
