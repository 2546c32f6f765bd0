"""What the tests of all dialects need."""

import pytest

from tests.builders import a_user


@pytest.fixture
def person():
    return a_user("Ada")
