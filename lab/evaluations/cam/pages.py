"""Made-up pages that change at instants of known probability, and what looks at them catch."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.cam.allocation import best_pairs
from apps.retrieval.algorithms.cam.epochs import REMEMBERED
from apps.retrieval.algorithms.cam.tracking import Observations
from lab.evaluations.cam.baselines import Epoch, evenly, next_epoch, proportional, tracking_checks, uniform
from lab.evaluations.cam.programme import best_looks

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MAX_THAT = 0.95  # that a page changes at an instant
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

    at_instant: float  # looked at when they happened
    newest: float  # at a look before the next change replaced them


def made_up(pages: int, instants: int, epochs: int, random: np.random.Generator) -> Pages:
    """Pages of weights 1 / rank in random order, with probabilities .9 U^4, U uniform: few instants matter much."""
    weights = 1 / (1 + random.permutation(pages))
    probabilities = np.minimum(0.9 * random.random((pages, instants)) ** 4, MAX_THAT)
    return Pages(weights, probabilities, random.random((epochs, pages, instants)) < probabilities)


def caught(pages: Pages, chosen: ArrayLike) -> Caught:
    """What looks catch.

    Parameters
    ----------
    chosen : array (n, p) or (e, n, p) of bool
        The looks of every epoch, or those of each.

    Examples
    --------
    A page that changes at instants 0 and 1 of three, looked at last, catches one of two:

    >>> page = Pages(np.ones(1), np.array([[1.0, 1.0, 0.0]]), np.array([[[True, True, False]]]))
    >>> caught(page, [[False, False, True]]), caught(page, [[True, True, False]])
    (Caught(at_instant=0.0, newest=0.5), Caught(at_instant=1.0, newest=1.0))
    """
    looks = np.broadcast_to(np.asarray(chosen, dtype=bool), pages.updates.shape)
    total = pages.updates.sum(axis=(0, 2)) @ pages.weights
    pending, found = np.zeros(pages.weights.size, dtype=bool), np.zeros(pages.weights.size)
    for changed, looked in zip(pages.updates, looks, strict=True):
        found += _look(pending, changed, looked).sum(axis=1)
    exact = (pages.updates & looks).sum(axis=(0, 2)) @ pages.weights
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
    return best_looks(pages.weights, pages.probabilities, tasks)


# From pages whose probabilities are known and a number of tasks to the looks of each epoch.
METHODS: Mapping[str, Callable[[Pages, int, np.random.Generator], BoolArray]] = {
    "uniform": _uniform,
    "weighted_uniform": _weighted_uniform,
    "proportional": _proportional,
    "proportional_spent": _proportional_spent,
    "cam": _cam,
    "programme": _programme,
}


def learning(pages: Pages, tasks: int, tracking: int, random: np.random.Generator) -> Iterator[Epoch]:
    """CAM that knows the weights only, epoch by epoch: what it learnt until then, and its looks.

    It sees what a portal sees: whether a page has changed since the look before. The first `tracking` epochs go evenly
    over all pages, with no more tasks than the others.
    """
    n, instants = pages.probabilities.shape
    believed = np.full((n, instants), BELIEVED)
    pending, latest = np.zeros(n, dtype=bool), np.zeros(n)
    seen = Observations.of([], [], [], [])
    for number, changed in enumerate(pages.updates):
        begin = float(number * instants)
        epoch = next_epoch(seen, pages.weights, believed, tasks, period=float(instants), now=begin)
        if number < tracking:
            epoch = Epoch(epoch.tracked, tracking_checks(n, instants, tasks, random))
        yield epoch
        found = _look(pending, changed, epoch.chosen)
        seen = _joined(seen, begin + instants - REMEMBERED * instants, _looks(epoch.chosen, found, latest, begin))


def _look(pending: BoolArray, changed: BoolArray, looked: BoolArray) -> BoolArray:
    """Which looks of an epoch find something new, shape (n, p); `pending` is carried on to the next epoch."""
    found = np.zeros(looked.shape, dtype=bool)
    for instant in range(looked.shape[1]):
        pending |= changed[:, instant]
        found[:, instant] = pending & looked[:, instant]
        pending &= ~looked[:, instant]
    return found


def _looks(looked: BoolArray, found: BoolArray, latest: FloatArray, begin: float) -> Observations:
    """The stretches that end with the looks of an epoch; `latest`, the last look at each page, is moved on."""
    page, instant = np.nonzero(looked)
    ends = np.asarray(begin + instant + 1.0, dtype=np.float64)
    first = np.diff(page, prepend=-1) > 0
    begins = np.where(first, latest[page], np.roll(ends, 1))
    latest[page] = ends  # the last assignment to a place stays
    return Observations(page, begins, ends, found[page, instant])


def _joined(earlier: Observations, since: float, later: Observations) -> Observations:
    """Those of the earlier ones that end after `since`, and the later ones."""
    kept = earlier.ends > since
    return Observations(
        np.concatenate((earlier.pages[kept], later.pages)),
        np.concatenate((earlier.begins[kept], later.begins)),
        np.concatenate((earlier.ends[kept], later.ends)),
        np.concatenate((earlier.changed[kept], later.changed)),
    )
