"""Registries: packages whose every module is an entry, so that a new entry is one new module.

The folder of `extensions` that has the registry's name adds modules to it, and installed packages add entries by entry
points of its group, such as `wirebeat.channels`.
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

EXTENSIONS = "extensions"  # the package of those that come with the portal


def gettext_noop(text: str) -> str:
    """Mark a text of a module without Django for translation; pages translate it when they show it."""
    return text


class MissingEntry(AttributeError):
    """A module of a registry does not define its entry, or an entry point of an installed package leads to none."""


def entries(package: str, attribute: str, *, within: str = "", group: str = "") -> Iterator[tuple[str, Any]]:
    """The name of each module of a package and its value of the attribute, in alphabetical order; then extensions.

    Where entries are packages, `within` is the module of each that has the attribute, such as ".urls". Extensions are
    modules of the folder in `extensions`, and the entry points of `group`. Raises MissingEntry for a module without the
    attribute, as everything in the package has to be an entry, and for an extension that cannot be loaded or has the
    name of a module.

    >>> [name for name, _ in entries("json", "__name__")]
    ['decoder', 'encoder', 'scanner', 'tool']
    """
    modules = {name: home for home in (package, *_bundled(package)) for name in _modules(home)}
    for module, home in sorted(modules.items()):
        entry = import_module(name := f"{home}.{module}{within}")
        if not hasattr(entry, attribute):
            raise MissingEntry(f"The module {name} has to define {attribute}, as all modules of {package} do.")
        yield module, getattr(entry, attribute)
    taken = {*modules}
    for extension in sorted(entry_points(group=group) if group else ()):
        of = f"the extension {extension.name!r} of {extension.dist.name if extension.dist else 'an unknown package'}"
        if extension.name in taken:
            raise MissingEntry(f"Rename {of}: {package} has an entry of this name.")
        taken.add(extension.name)
        try:
            yield extension.name, extension.load()
        except (ImportError, AttributeError) as error:
            raise MissingEntry(f"Repair or uninstall {of}, which cannot be loaded: {error}") from error


def _modules(package: str) -> list[str]:
    return [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]


def _bundled(package: str) -> list[str]:
    """The package of a registry's extensions, if it exists."""
    home = f"{EXTENSIONS}.{package.rpartition('.')[2]}"
    return [home] if find_spec(EXTENSIONS) and find_spec(home) else []
