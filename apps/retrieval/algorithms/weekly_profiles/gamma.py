"""The logarithm of the gamma function and its derivative, by Stirling's series."""

import math

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray

STEPS = 8  # up the recurrence; from there on the series have 12 correct digits
# x (x + 7), (x + 1)(x + 6), (x + 2)(x + 5) and (x + 3)(x + 4) are x² + 7 x and these.
OF_STEPS = (0.0, 6.0, 10.0, 12.0)


def log_gamma(x: ArrayLike) -> FloatArray:
    """The natural logarithm of the gamma function of positive numbers.

    >>> log_gamma([0.5, 5.0]).round(9).tolist(), round(math.log(24), 9)
    ([0.572364943, 3.17805383], 3.17805383)
    """
    small = np.asarray(x, np.float64)
    large = small + STEPS
    pair = small * (large - 1)
    product = math.prod(pair + each for each in OF_STEPS)
    square = 1 / (large * large)
    rest = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / large
    return np.asarray((large - 0.5) * np.log(large) - large + math.log(math.tau) / 2 + rest - np.log(product))


def digamma(x: ArrayLike) -> FloatArray:
    """The derivative of `log_gamma`.

    >>> (digamma([2.0, 3.0]) - digamma([1.0, 2.0])).round(9).tolist()
    [1.0, 0.5]
    """
    small = np.asarray(x, np.float64)
    large = small + STEPS
    pair = small * (large - 1)
    steps = (small + large - 1) * sum(1 / (pair + each) for each in OF_STEPS)
    square = 1 / (large * large)
    rest = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return np.asarray(np.log(large) - 0.5 / large - rest - steps)
