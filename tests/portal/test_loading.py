"""What few portals need is loaded only there, or by the first request for it."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

PROGRAM = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
import django
django.setup()
from django.urls import resolve, reverse
print(resolve(reverse("search")).view_name, "pydantic" in sys.modules, "requests" in sys.modules)
print(resolve("/api/v1/me").view_name, "pydantic" in sys.modules, "requests" in sys.modules)
print(resolve(reverse("home")).view_name, reverse("rest:read_account"))
"""


def loaded(providers: str) -> list[str]:
    environment = os.environ | {"WIREBEAT_OIDC": providers}
    command = [sys.executable, "-c", PROGRAM]
    found = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=True)
    return found.stdout.splitlines()


def test_schemas_of_programs_are_loaded_by_their_first_request():
    assert loaded("") == ["search False False", "rest:read_account True False", "home /api/v1/me"]


@pytest.mark.parametrize("providers", ["[]", '{"id": "a", "name": "A", "server": "https://a.example", '
                                             '"client_id": "w", "secret": "s"}'])  # fmt: skip
def test_signing_in_elsewhere_is_loaded_where_it_is_configured(providers):
    assert loaded(providers)[0] == "search False True"
