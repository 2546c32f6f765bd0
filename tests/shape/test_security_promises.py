"""Each promise of SECURITY.md names a test that exists, and each variable there is one that the settings read."""

import ast
import re
from pathlib import Path

from tests.shape.trees import tree

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ACTORS = ["Visitor", "User", "Staff", "Publisher", "Hub", "Neighbour on the host"]


def missing_tests(text: str) -> list[str]:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    return [f"{file}::{name}" for file, name in named if name not in _tests_in(ROOT / file)]


def unknown_variables(text: str) -> set[str]:
    settings = (ROOT / "portal" / "variables.py").read_text(encoding="utf-8")
    return set(re.findall(r"`(WIREBEAT_\w+)`", text)) - set(re.findall(r"\"(WIREBEAT_\w+)\"", settings))


def _tests_in(file: Path) -> set[str]:
    if not file.exists():
        return set()
    nodes = ast.walk(tree(file))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_named_test_exists():
    assert missing_tests(SECURITY) == []
    assert missing_tests("`tests/shape/test_security_promises.py::test_wombat`")
    assert missing_tests("`tests/shape/test_wombat.py::test_every_named_test_exists`")


def test_every_named_variable_exists():
    assert unknown_variables(SECURITY) == set()
    assert unknown_variables("`WIREBEAT_" + "WOMBAT`")


def test_every_promise_of_every_actor_names_its_test():
    sections = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", SECURITY, re.MULTILINE | re.DOTALL))
    assert list(sections) == ACTORS
    for actor, section in sections.items():
        promises = re.findall(r"^- (.*?)(?=^- |\n\n|\Z)", section, re.MULTILINE | re.DOTALL)
        bare = [promise for promise in promises if "::" not in promise]
        assert promises, actor
        assert not bare, f"{actor}: {bare}"
