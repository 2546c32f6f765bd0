"""Every environment variable that the settings read stands in the README, and the README names no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_readme_lists_every_environment_variable_of_the_settings():
    settings = (ROOT / "portal" / "settings.py").read_text(encoding="utf-8")
    read = set(re.findall(r"environment\.\w+\(\s*\"(\w+)\"", settings)) - {"WIREBEAT_TEST_DATABASE"}
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Operating")[2]
    documented = {
        name for row in re.findall(r"^\|(.*?)\|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert documented == read
