"""Requests leave the product by one module, so that one guard is in front of all of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.shape.trees import tree

APPS = Path(__file__).parents[2] / "apps"
WAYS_OUT = {
    "aiohttp", "requests", "httpx", "urllib3", "urllib.request", "http.client", "pywebpush", "pycurl", "ftplib",
    "telnetlib", "xmlrpc.client",
}  # fmt: skip
GUARDED = {f"apps/retrieval/http/{name}.py" for name in ("guard", "fetching", "headers")}
OPENERS = {"urlopen", "create_connection", "open_connection", "sock_connect"}


def is_socket(node: ast.Attribute) -> bool:
    return node.attr == "socket" and ast.unparse(node.value) == "socket"


def ways_out(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and (node.attr in OPENERS or is_socket(node)):
            yield node.attr
            continue
        else:
            continue
        yield from (name for name in names for way in WAYS_OUT if name == way or name.startswith(f"{way}."))


def test_nothing_but_the_fetcher_opens_connections():
    found = {}
    for file in APPS.rglob("*.py"):
        name = str(file.relative_to(APPS.parent))
        if name not in GUARDED:
            found[name] = sorted(set(ways_out(tree(file))))
    assert {name: ways for name, ways in found.items() if ways} == {}
    assert all(list(ways_out(tree(APPS.parent / name))) for name in GUARDED)
