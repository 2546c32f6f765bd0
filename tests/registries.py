"""Throw-away entries of registries."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def with_module(package: str, name: str, code: str, folder: Path, entries: Callable[..., Any]) -> Iterator[None]:
    """Have a package hold one more module; `entries` is the cached function that lists its modules."""
    registry = importlib.import_module(package)
    (folder / f"{name}.py").write_text(code)
    registry.__path__.append(str(folder))
    entries.cache_clear()
    try:
        yield
    finally:
        registry.__path__.remove(str(folder))
        sys.modules.pop(f"{package}.{name}", None)
        vars(registry).pop(name, None)
        entries.cache_clear()
