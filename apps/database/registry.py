"""Registries: packages whose every module is an entry, so that a new entry is one new module."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any


class MissingEntry(AttributeError):
    """A module of a registry does not define its entry."""


def entries(package: str, attribute: str, *, within: str = "") -> Iterator[tuple[str, Any]]:
    """The name of each module of a package and its value of the attribute, in alphabetical order.

    Where entries are packages, `within` is the module of each that has the attribute, such as ".urls". Raises
    MissingEntry for a module without the attribute: everything in the package has to be an entry.

    >>> [name for name, _ in entries("json", "__name__")]
    ['decoder', 'encoder', 'scanner', 'tool']
    """
    for module in sorted(pkgutil.iter_modules(import_module(package).__path__), key=lambda module: module.name):
        entry = import_module(name := f"{package}.{module.name}{within}")
        if not hasattr(entry, attribute):
            raise MissingEntry(f"The module {name} has to define {attribute}, as all modules of {package} do.")
        yield module.name, getattr(entry, attribute)
