"""The examples of CONTRIBUTING.md work as they are: a module is all that a new entry of a registry needs."""

import re
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from tests.registries import with_module

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
EXAMPLE = re.compile(r"Write `(\w+)/(\w+)\.py` in `apps/(\w+)/`:\n\n   ```python\n(.*?)\n   ```", re.DOTALL)
EXAMPLES = {f"apps.{app}.{registry}": (name, code) for registry, name, app, code in EXAMPLE.findall(PAGE.read_text())}
LISTS = {"kinds": "all_kinds", "channels": "all_channels", "policies": "all_policies"}


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
