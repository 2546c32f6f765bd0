"""Made-up pages with known probabilities of change, and the share of changes that page checks catch."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.cam.allocation import best_pairs
from apps.retrieval.algorithms.cam.tracking import KEPT_EPOCHS, Observations
from lab.evaluations.cam.baselines import Epoch, evenly, next_epoch, proportional, tracking_checks, uniform
from lab.evaluations.cam.programme import best_checks

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MAX_PROBABILITY = 0.95  # that a page changes at an update instant
BELIEVED = 0.2  # the same, of a page of which nothing is known


@dataclass(frozen=True)
class Pages:
    """n pages with p update instants in an epoch of p hours, and when they did change in e epochs."""

    weights: FloatArray  # (n,)
    probabilities: FloatArray  # (n, p)
    updates: BoolArray  # (e, n, p)

    @property
    def gains(self) -> FloatArray:
        """W_i rho_ij, shape (n, p)."""
        return self.weights[:, None] * self.probabilities


@dataclass(frozen=True)
class Caught:
    """Shares of all changes, weighted by their pages."""

    at_update_instant: float  # checked when they happened
    newest: float  # checked before the next change replaced them


def made_up(pages: int, slots: int, epochs: int, random: np.random.Generator) -> Pages:
    """Pages of weights 1 / rank in random order, with probabilities .9 U^4, U uniform: few slots matter much."""
    weights = 1 / (1 + random.permutation(pages))
    probabilities = np.minimum(0.9 * random.random((pages, slots)) ** 4, MAX_PROBABILITY)
    return Pages(weights, probabilities, random.random((epochs, pages, slots)) < probabilities)


def caught(pages: Pages, chosen: ArrayLike) -> Caught:
    """The changes that checks catch.

    Parameters
    ----------
    chosen : array (n, p) or (e, n, p) of bool
        The checks of all epochs alike, or of each.

    Examples
    --------
    A check in the last of three slots catches one of two changes in slots 0 and 1:

    >>> page = Pages(np.ones(1), np.array([[1.0, 1.0, 0.0]]), np.array([[[True, True, False]]]))
    >>> caught(page, [[False, False, True]]), caught(page, [[True, True, False]])
    (Caught(at_update_instant=0.0, newest=0.5), Caught(at_update_instant=1.0, newest=1.0))
    """
    checks = np.broadcast_to(np.asarray(chosen, dtype=bool), pages.updates.shape)
    total = pages.updates.sum(axis=(0, 2)) @ pages.weights
    pending, found = np.zeros(pages.weights.size, dtype=bool), np.zeros(pages.weights.size)
    for changed, checked in zip(pages.updates, checks, strict=True):
        found += _found_changes(pending, changed, checked).sum(axis=1)
    exact = (pages.updates & checks).sum(axis=(0, 2)) @ pages.weights
    return Caught(float(exact / total), float(found @ pages.weights / total))


def _uniform(pages: Pages, tasks: int, random: np.random.Generator) -> BoolArray:
    n, p = pages.probabilities.shape
    return evenly(uniform(n, p, tasks), p, random)


def _weighted_uniform(pages: Pages, tasks: int, random: np.random.Generator) -> BoolArray:
    p = pages.probabilities.shape[1]
    return evenly(proportional(pages.weights, p, tasks), p, random)


def _proportional(pages: Pages, tasks: int, random: np.random.Generator) -> BoolArray:
    p = pages.probabilities.shape[1]
    return evenly(proportional(pages.gains.sum(axis=1), p, tasks), p, random)


def _proportional_spent(pages: Pages, tasks: int, random: np.random.Generator) -> BoolArray:
    p = pages.probabilities.shape[1]
    return evenly(proportional(pages.gains.sum(axis=1), p, tasks, spend_all=True), p, random)


def _cam(pages: Pages, tasks: int, random: np.random.Generator) -> BoolArray:
    return best_pairs(pages.gains, tasks)


def _programme(pages: Pages, tasks: int, random: np.random.Generator) -> BoolArray:
    return best_checks(pages.weights, pages.probabilities, tasks)


# From pages with known probabilities and a number of tasks to the checks of each epoch.
METHODS: Mapping[str, Callable[[Pages, int, np.random.Generator], BoolArray]] = {
    "uniform": _uniform,
    "weighted_uniform": _weighted_uniform,
    "proportional": _proportional,
    "proportional_spent": _proportional_spent,
    "cam": _cam,
    "programme": _programme,
}


def learning(pages: Pages, tasks: int, tracking: int, random: np.random.Generator) -> Iterator[Epoch]:
    """CAM that knows the weights only, epoch by epoch: what it has learnt, and its checks.

    Like a portal it observes whether a page has changed since the previous check. The first `tracking` epochs go evenly
    over all pages, with no more tasks than the others.
    """
    n, slots = pages.probabilities.shape
    believed = np.full((n, slots), BELIEVED)
    pending, latest = np.zeros(n, dtype=bool), np.zeros(n)
    seen = Observations.of([], [], [], [])
    for number, changed in enumerate(pages.updates):
        begin = float(number * slots)
        epoch = next_epoch(seen, pages.weights, believed, tasks, period=float(slots), now=begin)
        if number < tracking:
            epoch = Epoch(epoch.tracked, tracking_checks(n, slots, tasks, random))
        yield epoch
        found = _found_changes(pending, changed, epoch.chosen)
        seen = _joined(seen, begin + slots - KEPT_EPOCHS * slots, _observations(epoch.chosen, found, latest, begin))


def _found_changes(pending: BoolArray, changed: BoolArray, checked: BoolArray) -> BoolArray:
    """Which checks of an epoch find something new, shape (n, p); `pending` is kept for the next epoch."""
    found = np.zeros(checked.shape, dtype=bool)
    for slot in range(checked.shape[1]):
        pending |= changed[:, slot]
        found[:, slot] = pending & checked[:, slot]
        pending &= ~checked[:, slot]
    return found


def _observations(checked: BoolArray, found: BoolArray, latest: FloatArray, begin: float) -> Observations:
    """The intervals that end with the checks of an epoch; updates `latest`, the last check of each page."""
    page, slot = np.nonzero(checked)
    ends = np.asarray(begin + slot + 1.0, dtype=np.float64)
    first = np.diff(page, prepend=-1) > 0
    begins = np.where(first, latest[page], np.roll(ends, 1))
    latest[page] = ends
    return Observations(page, begins, ends, found[page, slot])


def _joined(earlier: Observations, since: float, later: Observations) -> Observations:
    """Those of the earlier ones that end after `since`, and the later ones."""
    kept = earlier.ends > since
    return Observations(
        np.concatenate((earlier.pages[kept], later.pages)),
        np.concatenate((earlier.begins[kept], later.begins)),
        np.concatenate((earlier.ends[kept], later.ends)),
        np.concatenate((earlier.changed[kept], later.changed)),
    )
