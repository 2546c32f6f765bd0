"""Journeys that a browser takes with scripts and, as a trial, without them."""

import pytest

WITHOUT = "without scripts"
with_and_without_scripts = pytest.mark.parametrize(
    "page", ["with scripts", pytest.param(WITHOUT, marks=pytest.mark.trial)], indirect=True
)
without_scripts = pytest.mark.parametrize("page", [WITHOUT], indirect=True)
