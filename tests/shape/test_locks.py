"""What a portal is installed from holds everything that it declares."""

import re
import tomllib
from pathlib import Path

import pytest
from django.core.management import load_command_class

from lab.management.commands import refresh_locks

ROOT = Path(__file__).parents[2]


def declared(*, with_tests: bool) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lists = [project["project"]["dependencies"]]
    if with_tests:
        lists += project.get("dependency-groups", project["project"].get("optional-dependencies", {})).values()
    return {normal(re.split(r"[^\w.-]", each)[0]) for some in lists for each in some if isinstance(each, str)}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(("lock", "with_tests"), [("requirements.lock", False), ("requirements-test.lock", True)])
def test_a_lock_holds_all_declared_libraries(lock, with_tests):
    text = (ROOT / "portal" / lock).read_text(encoding="utf-8")
    locked = {normal(name) for name in re.findall(r"^([\w.-]+)==", text, flags=re.MULTILINE)}
    assert len(locked) > 20
    assert declared(with_tests=with_tests) - locked == set()


def test_the_portal_imports_no_library_of_the_tests():
    extra = declared(with_tests=True) - declared(with_tests=False)
    files = [file for folder in ("apps", "extensions", "portal") for file in (ROOT / folder).rglob("*.py")]
    product = "\n".join(file.read_text(encoding="utf-8") for file in files)
    imported = set(re.findall(r"^ *(?:import|from) (\w+)", product, flags=re.MULTILINE))
    assert imported & {normal(name) for name in extra} == set()


def test_the_licence_of_every_locked_package_is_listed():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| ([\w.-]+) \| ([\w.+!-]+) \| [^|]+ \|$", page, flags=re.MULTILINE))
    text = (ROOT / "portal" / "requirements.lock").read_text(encoding="utf-8")
    # Those of other systems and Pythons are not installed here.
    locked = dict(re.findall(r"^([\w.-]+)==(\S+) \\$", text, flags=re.MULTILINE))
    assert len(locked) > 50
    assert {name: version for name, version in locked.items() if listed.get(name) != version} == {}


def test_licences_allow_to_run_the_portal():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    assert not re.search(r"AGPL|Affero|Non-?Commercial", page)


def test_locks_are_refreshed_by_a_command():
    text = (ROOT / "portal" / "requirements.lock").read_text(encoding="utf-8")
    assert " ".join(refresh_locks.OPTIONS[:4]) in text.partition("\n")[2].partition("\n")[0]
    assert {path.name for path in (ROOT / "portal").glob("*.lock")} == set(refresh_locks.LOCKS)
    assert load_command_class("lab", "refresh_locks").help
