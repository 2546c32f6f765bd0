"""Some cases for the quick run; the others are trials."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def quick_every(step: int, cases: Iterable[Any]) -> list[ParameterSet]:
    """Cases for `parametrize`, of which every so-maniest is quick, the first included.

    A case of several values, or with an id, is a `pytest.param`.
    """
    made = [each if isinstance(each, ParameterSet) else pytest.param(each) for each in cases]
    return [
        each._replace(marks=[*each.marks, pytest.mark.trial]) if at % step else each for at, each in enumerate(made)
    ]
