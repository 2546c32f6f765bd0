"""Rows of SQL are read by the names of their columns: a statement whose columns are swapped may not pass unseen.

Rows are what `fetch`, `fetch_rows`, `rows_of`, `query`, `fetchall`, `fetchmany`, `fetchone`, `execute` and
`values_list` give, under whatever name a function keeps them, and parameters that are annotated as `tuple[Any, ...]`.
It is a fault to

- unpack more than two columns, or a part of them with a star: `for id, title, url in fetch(...)`, `id, *rest = row`,
- take a column by its place, or several: `row[0]`, `row[:8]`, `rows[0][1]`,
- pass columns by their places: `Posting(*row)`, `Posting._make(row)`, `map(Posting._make, rows)`, `starmap(f, rows)`.

Two columns are a key and its value, one is a value: they may be unpacked.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shape.trees import parsed

ROOT = Path(__file__).parents[2]
MAX_UNPACKED = 2
SEVERAL = {"fetch", "fetch_rows", "rows_of", "query", "fetchall", "fetchmany", "values_list", "execute"}
SINGLE = {"fetchone"}
SAME_ROWS = {"list", "tuple", "sorted", "reversed", "iter", "set"}
ONE_OF_THEM = {"next", "min", "max"}
RAW = "tuple[Any, ...]"
# A file without any of these words has no rows.
WORDS = re.compile(rf"\b(?:{'|'.join(SEVERAL | SINGLE)}|_make|cursor)\b|{re.escape(RAW)}")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def called(node: ast.expr) -> str:
    """The last word of what a call names."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


class Reading:
    """What one function does with rows; names are followed until no more of them are found to be rows."""

    def __init__(self, function: Function) -> None:
        self.nodes = list(within(function))
        arguments = function.args
        self.row = {
            each.arg
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            if each.annotation is not None and ast.unparse(each.annotation) == RAW
        }
        self.rows: set[str] = set()
        self.faults: set[tuple[int, str]] = set()
        known = -1
        while known < len(self.row) + len(self.rows):
            known = len(self.row) + len(self.rows)
            for node in self.nodes:
                self._inspect(node)

    def is_rows(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.rows
            case ast.Call():
                name = called(node)
                if name in SEVERAL:
                    # Of `values_list`, the other ways to read rows; `execute` of plain connections gives a cursor.
                    return not any(keyword.arg in {"flat", "named"} for keyword in node.keywords)
                if name in SAME_ROWS and node.args:
                    return self.is_rows(node.args[0])
                # What is chained to a query set gives its rows: `order_by`, `iterator`.
                return isinstance(node.func, ast.Attribute) and name not in SINGLE and self.is_rows(node.func.value)
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self.is_rows(value)
            case ast.BoolOp(values=values):
                return any(map(self.is_rows, values))
            case ast.IfExp(body=body, orelse=other):
                return self.is_rows(body) or self.is_rows(other)
            case ast.NamedExpr(value=value):
                return self.is_rows(value)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                return self.is_row(element)
        return False

    def is_row(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.row
            case ast.Call(args=arguments):
                one_of_several = called(node) in ONE_OF_THEM and bool(arguments) and self.is_rows(arguments[0])
                return called(node) in SINGLE or one_of_several
            case ast.Subscript(value=value, slice=place) if not isinstance(place, ast.Slice):
                return self.is_rows(value)
            case ast.BoolOp(values=values):
                return any(map(self.is_row, values))
            case ast.NamedExpr(value=value):
                return self.is_row(value)
        return False

    def _inspect(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value) if value:
                self._bind(target, value)
            case ast.For(target=target, iter=rows) | ast.comprehension(target=target, iter=rows):
                self._bind_each(target, rows)
            case ast.Subscript(value=row) if self.is_row(row) and not isinstance(node.slice, ast.Name):
                if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)):
                    self._fault(node, "takes columns by their places")
            case ast.Starred(value=row) if self.is_row(row):
                self._fault(node, "passes columns by their places")
            case ast.Attribute(attr="_make"):
                self._fault(node, "passes columns by their places")
            case ast.Call(args=[_, rows, *_]) if called(node) in {"map", "starmap"} and self.is_rows(rows):
                self._fault(node, "passes columns by their places")
            case ast.Call(args=[rows, *_], keywords=keywords) if self.is_rows(rows):
                for keyword in keywords:
                    if isinstance(keyword.value, ast.Lambda):  # the key by which rows are sorted
                        self.row.update(each.arg for each in keyword.value.args.args)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        self._name(target, is_row=self.is_row(value), is_rows=self.is_rows(value))

    def _bind_each(self, target: ast.expr, rows: ast.expr) -> None:
        if self.is_rows(rows) or ast.unparse(rows) == "cursor":
            self._name(target, is_row=True)
        elif isinstance(target, ast.Tuple) and isinstance(rows, ast.Call):
            sides = [ast.Constant(0), *rows.args] if called(rows) == "enumerate" else rows.args
            if called(rows) in {"zip", "enumerate"}:
                for side, values in zip(target.elts, sides, strict=False):
                    self._name(side, is_row=self.is_rows(values))

    def _name(self, target: ast.expr, *, is_row: bool, is_rows: bool = False) -> None:
        if isinstance(target, ast.Name):
            self.row |= {target.id} if is_row else set()
            self.rows |= {target.id} if is_rows else set()
        elif isinstance(target, ast.Tuple | ast.List):
            if is_row and (len(target.elts) > MAX_UNPACKED or any(isinstance(e, ast.Starred) for e in target.elts)):
                self._fault(target, "unpacks more than two columns")
            for element in target.elts if is_rows else ():
                self._name(element, is_row=True)

    def _fault(self, node: ast.AST, what: str) -> None:
        self.faults.add((getattr(node, "lineno", 0), f"{what}: {ast.unparse(node)}"))


def within(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def faults(tree: ast.AST) -> list[tuple[int, str]]:
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    return sorted({fault for function in functions for fault in Reading(function).faults})


def product_files() -> Iterator[Path]:
    for folder in ("apps", "extensions", "portal"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in file.parts:
                yield file


def test_rows_of_the_product_are_read_by_name():
    texts = {file: file.read_text(encoding="utf-8") for file in product_files()}
    with_rows = {file: text for file, text in texts.items() if WORDS.search(text)}
    assert len(with_rows) > 100
    found = [
        f"{file.relative_to(ROOT)}:{line}: {what}"
        for file, text in with_rows.items()
        for line, what in faults(parsed(text))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "body",
    [
        "return [Posting(*row) for row in cursor.fetchall()]",
        "return Posting(*cursor.fetchone())",
        "return {row[0]: row for row in fetch(STATEMENT)}",
        "return [row[:8] for row in sorted(fetch(STATEMENT))]",
        "for id, title, url in fetch(STATEMENT): print(id)",
        "for id, *others in fetch(STATEMENT): print(id)",
        "for place, (id, title, url) in enumerate(fetch(STATEMENT)): print(id)",
        "for wish, (id, title, url) in zip(wishes, fetch(STATEMENT)): print(id)",
        "rows = fetch(STATEMENT) or []\n    first = rows[0]\n    return first[1]",
        "[(id, title, url)] = fetch(STATEMENT)",
        "id, title, url = cursor.fetchone()",
        "row = cursor.fetchone()\n    id, title, url = row or ('', '', '')",
        "if row := cursor.fetchone(): print(row[0])",
        "return list(map(Posting._make, fetch(STATEMENT)))",
        "return list(starmap(Posting, fetch(STATEMENT)))",
        "return sorted(fetch(STATEMENT), key=lambda row: row[1])",
        "for row in cursor: print(row[1])",
        "return [Item(*row) for row in Posting.objects.values_list('pk', 'title').order_by('pk')[:9]]",
        "return [url for pk, title, url in Posting.objects.values_list('pk', 'title', 'url')]",
    ],
)
def test_positional_reading_is_found(body):
    assert faults(ast.parse(f"def read(cursor, wishes):\n    {body}\n"))


def test_a_row_that_is_passed_on_is_found():
    assert faults(ast.parse("def of(row: tuple[Any, ...]):\n    return row[6:-2]\n"))


@pytest.mark.parametrize(
    "body",
    [
        "return dict(fetch(STATEMENT))",
        "return {id: title for id, title in cursor.fetchall()}",
        "[count] = cursor.fetchone()",
        "[(count,)] = fetch(STATEMENT)",
        "[[granted]] = connection.execute(STATEMENT)",
        "return [row.title for row in fetch_rows(STATEMENT)]",
        "return fetch_rows(STATEMENT)[0].title",
        "return {row.pk: row.title for row in Posting.objects.values_list('pk', 'title', 'url', named=True)}",
        "return [pk + 1 for pk in Posting.objects.values_list('pk', flat=True)[:9]]",
        "return [row['title'] for row in cursor.fetchall()]",
        "return [Posting(*parts) for parts in pieces(cursor)]",
    ],
)
def test_reading_by_name_and_pairs_are_no_faults(body):
    assert not faults(ast.parse(f"def read(cursor, connection):\n    {body}\n"))
