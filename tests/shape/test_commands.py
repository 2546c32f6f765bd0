"""Every command is named by a test, and the documentation names only commands and options that exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.shape.trees import parsed

ROOT = Path(__file__).parents[2]
TOPS = ("apps", "extensions", "portal", "lab")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
CALL = re.compile(r"manage\.py (\w+)([^`]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
TAKES_ANY = {"test"}  # hands its options to pytest


def own_commands(*tops: str) -> set[str]:
    files = [file for top in tops or TOPS for file in (ROOT / top).glob("**/management/commands/*.py")]
    return {file.stem for file in files} - {"__init__"}


def named_by_tests(commands: set[str]) -> set[str]:
    """Those of the commands that are strings of tests; a file that quotes no further one is not parsed."""
    quoted, found = re.compile(rf"[\"']({'|'.join(commands)})[\"']"), set[str]()
    for file in (ROOT / "tests").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if file != Path(__file__) and not found.issuperset(quoted.findall(text)):
            found |= {node.value for node in ast.walk(parsed(text)) if isinstance(node, ast.Constant)} & commands
    return found


@cache
def options_of(command: str) -> frozenset[str]:
    made = load_command_class(get_commands()[command], command)
    return frozenset(made.create_parser("manage.py", command)._option_string_actions)


def snippets(text: str) -> Iterator[str]:
    """Code between backticks and the lines of fenced blocks."""
    for number, part in enumerate(text.split("```")):
        yield from part.splitlines() if number % 2 else re.findall(r"`([^`]*)`", part)


def calls(text: str) -> Iterator[tuple[str, str]]:
    """Each command that is named, with an option of it or with nothing."""
    for snippet in snippets(text):
        for command, arguments in CALL.findall(snippet.partition("#")[0]):
            yield command, ""
            yield from ((command, option) for option in OPTION.findall(arguments))


def faults(text: str) -> list[str]:
    found = []
    for command, option in calls(text):
        if command not in get_commands() and command not in own_commands():
            found.append(f"there is no command {command}")
        elif option and command not in TAKES_ANY and option not in options_of(command):
            found.append(f"{command} has no option {option}")
    return found


def test_every_command_is_named_by_a_test():
    commands = own_commands()
    assert {"benchmark_search", "up"} <= commands
    assert commands - named_by_tests(commands) == set()


def advised_commands(tree: ast.AST) -> set[str]:
    """The commands that strings name, apart from docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return {
        name for node in nodes if isinstance(node.value, str) for name in re.findall(r"manage\.py (\w+)", node.value)
    }


def test_the_product_advises_no_command_of_the_laboratory():
    texts = [file.read_text(encoding="utf-8") for top in ("apps", "portal") for file in (ROOT / top).rglob("*.py")]
    advised = {name for text in texts if "manage.py" in text for name in advised_commands(parsed(text))}
    assert {"backup", "reindex"} <= advised
    assert advised & own_commands("lab") == set()


@pytest.mark.parametrize("file", PAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_page_names_only_commands_and_options_that_exist(file: Path):
    assert faults(file.read_text(encoding="utf-8")) == []


def test_the_calls_of_the_pages_are_found():
    found = {call for page in PAGES for call in calls(page.read_text(encoding="utf-8"))}
    assert {("chaos", "--hosts"), ("evaluate_summaries", "--chinese"), ("replay", "--speed")} <= found


def test_a_command_or_an_option_that_does_not_exist_is_found():
    text = """Run `manage.py replay --speed 8`, or `manage.py plot`.
```
python3 manage.py replay --faster
```
| news | 1 | `manage.py chaos --nothing` |
"""
    assert set(faults(text)) == {
        "there is no command plot", "replay has no option --faster", "chaos has no option --nothing",
    }  # fmt: skip
