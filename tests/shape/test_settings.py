"""Every environment variable of the program is read in one place, and documented."""

import re
from pathlib import Path

from portal.variables import OTHERS

ROOT = Path(__file__).parents[2]
# Names to try the readers with.
MADE_UP_IN = {"test_docs.py", "test_environment.py", "test_oidc.py", "test_refused_starts.py"}


def read_by(module):
    text = (ROOT / "portal" / f"{module}.py").read_text(encoding="utf-8")
    return set(re.findall(r"environment\.\w+\(\s*\"(\w+)\"", text))


def test_the_settings_read_no_variable_that_is_not_checked_before_the_start():
    assert read_by("settings") == set()


def test_every_name_of_ours_that_the_program_or_its_tests_use_is_accepted():
    files = [
        file
        for folder in ("portal", "apps", "extensions", "lab", "tests", "deploy")
        for file in (ROOT / folder).rglob("*.*")
    ]
    files = [file for file in files if file.suffix in {".py", ".example", ".yaml"} and file.name not in MADE_UP_IN]
    texts = [file.read_text(encoding="utf-8") for file in files]
    used = {name for text in texts for name in re.findall(r"\bWIREBEAT_[A-Z_]+[A-Z]\b", text)}
    known = read_by("variables") | OTHERS
    assert {name for name in used if name.removesuffix("_FILE") not in known} == set()
