"""The examples of CONTRIBUTING.md work as they are: a module is all that a new entry of a registry needs."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from apps.retrieval.policies import all_policies
from apps.sources.formats.feed import NotAFeed, Page
from apps.sources.formats.recipes import Recipe
from apps.sources.kinds import all_kinds, read
from tests.algorithms.test_sia_policies import LEARNED, generator
from tests.registries import with_module

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
EXAMPLE = re.compile(r"Write `(\w+)/(\w+)\.py` in `apps/(\w+)/`:\n\n   ```python\n(.*?)\n   ```", re.DOTALL)
EXAMPLES = {f"apps.{app}.{registry}": (name, code) for registry, name, app, code in EXAMPLE.findall(PAGE.read_text())}
LISTS = {
    "kinds": "all_kinds",
    "channels": "all_channels",
    "send_to": "all_services",
    "policies": "all_policies",
    "rankings": "all_models",
}


def test_every_registry_of_single_modules_has_an_example():
    assert {package.rpartition(".")[2] for package in EXAMPLES} == set(LISTS)


@pytest.mark.parametrize("package", EXAMPLES)
def test_an_example_is_an_entry(package: str, tmp_path: Path):
    name, code = EXAMPLES[package]
    entries = getattr(import_module(package), LISTS[package.rpartition(".")[2]])
    assert name not in entries()
    with with_module(package, name, dedent(f"   {code.strip()}"), tmp_path, entries):
        assert entries()[name].label
    assert name not in entries()


def test_the_example_of_a_kind_refuses_an_empty_document(tmp_path: Path):
    name, code = EXAMPLES["apps.sources.kinds"]
    with with_module("apps.sources.kinds", name, dedent(f"   {code.strip()}"), tmp_path, all_kinds):
        assert len(read(name, [Page(b"One\nTwo", "text/plain", "https://example.org/")], Recipe()).entries) == 2
        with pytest.raises(NotAFeed):
            read(name, [Page(b"", "text/plain", "https://example.org/")], Recipe())


def test_the_example_of_a_policy_spends_the_budget(tmp_path: Path):
    name, code = EXAMPLES["apps.retrieval.policies"]
    with with_module("apps.retrieval.policies", name, dedent(f"   {code.strip()}"), tmp_path, all_policies):
        rule = import_module(f"apps.retrieval.policies.{name}").rule
        timetables = rule(LEARNED, 4.0, random=generator(), least=0.5, most=9.0)
    assert sum(timetable.per_day for timetable in timetables) == pytest.approx(4.0 * len(LEARNED))


@pytest.mark.trial  # mypy reads the whole program
def test_the_examples_have_the_types_that_they_are_called_with(tmp_path: Path):
    files = [tmp_path / f"{name}.py" for name, _ in EXAMPLES.values()]
    for file, (_, code) in zip(files, EXAMPLES.values(), strict=True):
        file.write_text(dedent(f"   {code.strip()}\n"))
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *map(str, files)]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
