"""Every module of an app lies in a layer of one contract, and no modules import each other in a circle."""

import tomllib
from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
NOT_LAYERED = {"migrations", "apps"}  # what Django alone reads


def contracts() -> list[dict[str, object]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(settings["tool"]["importlinter"]["contracts"])


def layered() -> list[str]:
    """The containers of contracts whose layers are inside an app."""
    layers = [contract for contract in contracts() if contract["type"] == "layers"]
    found = [contract for contract in layers if contract["containers"] != ["apps"]]
    assert all(contract["exhaustive"] for contract in found)
    assert all(set(contract.get("exhaustive_ignores", ())) <= NOT_LAYERED for contract in found)
    return [container for contract in found for container in contract["containers"]]


def test_the_layers_of_each_app_are_stated_once():
    apps = [f"apps.{file.parent.name}" for file in ROOT.glob("apps/*/__init__.py")]
    assert {app: [name for name in layered() if fnmatchcase(app, name)] for app in apps} == {app: [app] for app in apps}


def test_every_folder_of_modules_is_a_package():
    """The contracts do not see others."""
    tops = (ROOT / name for name in ("apps", "extensions", "portal", "lab"))
    folders = {file.parent for top in tops for file in top.rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def circle(imports: Mapping[str, Set[str]]) -> list[str]:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def imports_of(*packages: str) -> Iterator[tuple[str, Set[str]]]:
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True, cache_dir=None)
    for module in graph.modules:
        yield module, graph.find_modules_directly_imported_by(module)


def test_no_modules_import_each_other_in_a_circle(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))
    imports = dict(imports_of("apps", "extensions", "portal", "lab"))
    assert len(imports) > 500
    assert circle(imports) == []


def test_a_circle_is_found():
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}
