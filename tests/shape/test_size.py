"""How large the product is. The limits keep it from growing unnoticed."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.shape.trees import parsed

ROOT = Path(__file__).parents[2]
MAX_LINES = 70_000
MAX_CODE_LINES = 47_000
MAX_OF_EXTENSIONS = 4_000  # lines of those that come with the portal


def product_files(*folders: str) -> list[Path]:
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    return [file for file in files if "migrations" not in file.parts]


def code_lines(text: str) -> int:
    docstrings = {line for node in _docstrings(parsed(text)) for line in range(node.lineno, node.end_lineno + 1)}
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in docstrings
        for number, line in enumerate(text.splitlines(), start=1)
    )


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        has_body = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if has_body and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0].value


def size(*folders: str) -> tuple[int, int]:
    """The lines of folders, and how many are code."""
    texts = [file.read_text(encoding="utf-8") for file in product_files(*folders)]
    return sum(len(text.splitlines()) for text in texts), sum(map(code_lines, texts))


def test_apps_and_portal_stay_below_their_limits(record_property):
    lines, code = size("apps", "portal")
    of_extensions, _ = size("extensions")
    record_property(
        "shown",  # by tests/conftest.py
        f"apps and portal: {lines:,} lines, {code:,} without blank lines, comments and docstrings;"
        f" extensions: {of_extensions:,} lines",
    )
    advice = "Delete what is not needed, or make a package of what can be left out (see CONTRIBUTING.md)."
    assert of_extensions <= MAX_OF_EXTENSIONS, advice
    assert lines <= MAX_LINES, advice
    assert code <= MAX_CODE_LINES, advice


def test_blank_lines_comments_and_docstrings_are_not_counted():
    text = '"""What\nit is."""\n\n# A reason.\ndef twice(x):\n    """Twice x."""\n    return 2 * x  # exactly\n'
    assert code_lines(text) == 2
