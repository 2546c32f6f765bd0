"""What the pages of operators share."""

import pytest

from apps.accounts.models import User
from tests.builders import a_user


@pytest.fixture
def staff(client) -> User:
    user = a_user(is_staff=True)
    client.force_login(user)
    return user
