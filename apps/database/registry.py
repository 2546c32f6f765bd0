"""Registries: packages whose every module is an entry, so that a new entry is one new module.

Installed packages can add entries, too, by entry points of a registry's group, such as `wirebeat.channels`.
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any


class MissingEntry(AttributeError):
    """A module of a registry does not define its entry, or an entry point of an installed package leads to none."""


def entries(package: str, attribute: str, *, within: str = "", group: str = "") -> Iterator[tuple[str, Any]]:
    """The name of each module of a package and its value of the attribute, in alphabetical order; then extensions.

    Where entries are packages, `within` is the module of each that has the attribute, such as ".urls". Extensions are
    the entry points of `group`. Raises MissingEntry for a module without the attribute, as everything in the package
    has to be an entry, and for an extension that cannot be loaded or has the name of a module.

    >>> [name for name, _ in entries("json", "__name__")]
    ['decoder', 'encoder', 'scanner', 'tool']
    """
    modules = sorted(pkgutil.iter_modules(import_module(package).__path__), key=lambda module: module.name)
    for module in modules:
        entry = import_module(name := f"{package}.{module.name}{within}")
        if not hasattr(entry, attribute):
            raise MissingEntry(f"The module {name} has to define {attribute}, as all modules of {package} do.")
        yield module.name, getattr(entry, attribute)
    taken = {module.name for module in modules}
    for extension in sorted(entry_points(group=group) if group else ()):
        of = f"the extension {extension.name!r} of {extension.dist.name if extension.dist else 'an unknown package'}"
        if extension.name in taken:
            raise MissingEntry(f"Rename {of}: {package} has an entry of this name.")
        taken.add(extension.name)
        try:
            yield extension.name, extension.load()
        except (ImportError, AttributeError) as error:
            raise MissingEntry(f"Repair or uninstall {of}, which cannot be loaded: {error}") from error
