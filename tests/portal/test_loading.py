"""What few portals need is loaded only there."""

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
print("requests" in sys.modules, "pydantic" in sys.modules)
import portal.urls
print("requests" in sys.modules, "pydantic" in sys.modules)
"""
ACME = '{"id": "acme", "name": "Acme", "server": "https://id.acme.example", "client_id": "w", "secret": "s"}'


def loaded(providers: str) -> list[str]:
    """Whether Requests and Pydantic are loaded: by a program without pages, and by one with pages."""
    environment = os.environ | {"WIREBEAT_OIDC": providers}
    command = [sys.executable, "-c", PROGRAM]
    found = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=True)
    return found.stdout.splitlines()


def test_schemas_of_programs_are_loaded_only_by_what_answers_requests():
    assert loaded("") == ["False False", "False True"]


@pytest.mark.parametrize("providers", ["[]", ACME])
def test_signing_in_elsewhere_is_loaded_where_it_is_configured(providers):
    assert loaded(providers) == ["True False", "True True"]
