"""Parsed files, which most tests of this folder read."""

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def tree(file: Path) -> ast.Module:
    return parsed(file.read_text(encoding="utf-8"))
