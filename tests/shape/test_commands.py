"""Every command is named by a test, and the README names no command or option that is none."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).parents[2]
CALL = re.compile(r"manage\.py (\w+)([^`]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
SAME = "the same"  # command as in the row above
TAKES_ANY = {"test"}  # hands its options to pytest


def own_commands() -> set[str]:
    files = [file for top in ("apps", "portal", "lab") for file in (ROOT / top).glob("**/management/commands/*.py")]
    return {file.stem for file in files} - {"__init__"}


def strings_of_tests() -> set[str]:
    files = [file for file in (ROOT / "tests").rglob("*.py") if file != Path(__file__)]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


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
    above = ""
    for row in re.findall(r"^\|.*\|([^|]*)\|$", text, re.MULTILINE):
        named = [command for command, _ in CALL.findall(row)]
        above = named[-1] if named else above
        if above and (named or SAME in row):  # an option may stand alone, after the command or below it
            alone = [snippet for snippet in snippets(row) if snippet.startswith("--")]
            yield from ((above, option) for snippet in alone for option in OPTION.findall(snippet))


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
    assert commands - strings_of_tests() == set()


def test_the_readme_names_only_commands_and_options_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {("chaos", "--hosts"), ("evaluate_summaries", "--chinese"), ("replay", "--speed")} <= set(calls(text))
    assert faults(text) == []


def test_a_command_or_an_option_that_is_none_is_found():
    text = """Say `manage.py plan --budget 8`, or `manage.py plot`.
```
python3 manage.py replay --faster
```
| what | figure | command |
| news | 1 | `manage.py chaos --nothing`, `--hosts` |
| more | 2 | the same, `--none FILE` |
"""
    assert set(faults(text)) == {
        "there is no command plot", "replay has no option --faster", "chaos has no option --nothing",
        "chaos has no option --none",
    }  # fmt: skip
