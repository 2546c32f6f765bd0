"""Addresses of programs are loaded by the first request for them."""

import subprocess
import sys

from django.conf import settings

PROGRAM = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
import django
django.setup()
from django.urls import resolve, reverse
print(resolve(reverse("search")).view_name, "pydantic" in sys.modules)
print(resolve("/api/v1/me").view_name, "pydantic" in sys.modules)
print(resolve(reverse("home")).view_name)
"""


def test_schemas_of_programs_are_loaded_by_their_first_request():
    command = [sys.executable, "-c", PROGRAM]
    found = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == ["search False", "rest:read_account True", "home"]
