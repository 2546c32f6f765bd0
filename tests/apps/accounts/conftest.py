from collections.abc import Iterator

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def fresh_limits(settings) -> Iterator[None]:
    """What one test did is not held against the next; and passwords are hashed cheaply, since many are tried."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    yield
    cache.clear()
