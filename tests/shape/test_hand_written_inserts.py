"""Every INSERT and COPY that is written by hand names all columns that a row cannot be made without.

A column that Django fills by itself has no default in the database, so a statement that was written before the column
was added fails only when it runs. Statements of triggers are read from the database itself.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests.shape.trees import parsed

ROOT = Path(__file__).parents[2]
STATEMENT = re.compile(r"\b(?:INSERT\s+INTO|COPY)\s+([\w{}]+)(?:\s+AS\s+\w+)?\s*(?:\(([^()]*)\))?")
PLACEHOLDER = "{}"
_REQUIRED = """
SELECT table_name, coalesce(array_agg(column_name::text) FILTER (WHERE is_nullable = 'NO' AND column_default IS NULL
    AND is_identity = 'NO' AND is_generated = 'NEVER'), '{}')
FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name
"""
_TRIGGERS = """
SELECT proname, prosrc FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql')
"""


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The strings of a module and their lines; what is computed in an f-string becomes a placeholder."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            values = [str(part.value) if isinstance(part, ast.Constant) else PLACEHOLDER for part in node.values]
            yield node.lineno, "".join(values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def faults(text: str, required: dict[str, set[str]]) -> Iterator[str]:
    """What is wrong with the statements of a text."""
    for table, columns in STATEMENT.findall(text):
        if PLACEHOLDER in table + columns:
            yield f"the columns of {table} are computed"
        elif table in required:
            missing = required[table] - {name.strip(' "\n') for name in columns.split(",")}
            if missing:
                yield f"{table} lacks {', '.join(sorted(missing))}"


@pytest.fixture
def required(db) -> dict[str, set[str]]:
    """The columns of each table that have no default and may not be null."""
    with connection.cursor() as cursor:
        cursor.execute(_REQUIRED)
        return {table: set(columns) for table, columns in cursor.fetchall()}


def test_statements_of_the_program_name_every_required_column(required):
    files = [
        (file, code)
        for folder in ("apps", "extensions", "portal", "lab")
        for file in sorted((ROOT / folder).rglob("*.py"))
        if "migrations" not in file.parts and ("INSERT" in (code := file.read_text(encoding="utf-8")) or "COPY" in code)
    ]
    assert len(files) > 20
    found = [
        f"{file.relative_to(ROOT)}:{line}: {fault}"
        for file, code in files
        for line, text in texts(parsed(code))
        for fault in faults(text, required)
    ]
    assert not found, "\n".join(found)


def test_statements_of_triggers_name_every_required_column(required):
    with connection.cursor() as cursor:
        cursor.execute(_TRIGGERS)
        functions = cursor.fetchall()
    assert any("INSERT INTO" in body for _, body in functions)
    found = [f"{name}: {fault}" for name, body in functions for fault in faults(body, required)]
    assert not found, "\n".join(found)


def test_a_missing_and_a_computed_column_are_found():
    required = {"news": {"title", "url"}}
    assert list(faults("INSERT INTO news (url) VALUES (%s)", required)) == ["news lacks title"]
    assert list(faults('COPY news (url, "title") FROM STDIN', required)) == []
    assert list(faults("INSERT INTO news VALUES (%s)", required)) == ["news lacks title, url"]
    assert list(faults("INSERT INTO news ({}) SELECT 1", required)) == ["the columns of news are computed"]
