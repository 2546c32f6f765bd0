"""What a portal is installed from holds everything that it declares."""

import re
import tomllib
from pathlib import Path

import pytest

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
