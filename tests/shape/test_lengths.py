"""Functions and files are short enough to be read in one go; ruff limits their complexity."""

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path

from tests.shape.trees import parsed

ROOT = Path(__file__).parents[2]
FOLDERS = ("apps", "extensions", "portal", "lab", "tests")
MAX_FUNCTION_LINES = 60  # with its docstring
MAX_FILE_LINES = 400
MULTILINE = re.compile(r"(\"\"\"|''').*?\1", re.DOTALL)  # texts, which may hold code


def texts() -> Iterator[tuple[Path, str]]:
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in file.parts:
                yield file.relative_to(ROOT), file.read_text(encoding="utf-8")


def may_have_long_ones(text: str) -> bool:
    """Whether many lines follow a function's first one, up to the next definition that is not inside it.

    It takes a tenth of the time of parsing.
    """
    lines = MULTILINE.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    open_ones: list[tuple[int, float]] = []  # indents of definitions, and the lines of functions
    for number, line in enumerate([*lines, "@"]):
        code = line.lstrip(" ")
        if code.startswith(("def ", "async def ", "class ", "@")):
            indent = len(line) - len(code)
            while open_ones and open_ones[-1][0] >= indent:
                if number - open_ones.pop()[1] > MAX_FUNCTION_LINES:
                    return True
            open_ones.append((indent, number if "def " in code else math.inf))
    return False


def long_functions(text: str) -> list[str]:
    if not may_have_long_ones(text):
        return []
    return [
        f"{node.name}:{lines}"
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := node.end_lineno - node.lineno + 1) > MAX_FUNCTION_LINES
    ]


def test_no_function_has_more_than_60_lines():
    assert [f"{file} {each}" for file, text in texts() for each in long_functions(text)] == []


def test_no_file_has_more_than_400_lines():
    lengths = {str(file): len(text.splitlines()) for file, text in texts()}
    assert len(lengths) > 1_200
    assert {file: lines for file, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_a_long_method_is_found():
    body = "\n".join(["        pass"] * 60)
    assert long_functions(f"class A:\n    def b(self):\n{body}\n    def c(self):\n        pass\n") == ["b:61"]
