"""Functions and files are short enough to be read in one go; ruff limits their complexity."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.shape.trees import parsed

ROOT = Path(__file__).parents[2]
FOLDERS = ("apps", "extensions", "portal", "lab", "tests")
MAX_FUNCTION_LINES = 60  # with its docstring
MAX_FILE_LINES = 400


def texts() -> Iterator[tuple[Path, str]]:
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in file.parts:
                yield file.relative_to(ROOT), file.read_text(encoding="utf-8")


def long_functions(text: str) -> list[str]:
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
