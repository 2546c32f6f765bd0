"""How the rows of a table differ from the expected ones."""

from collections.abc import Iterable
from dataclasses import dataclass

Row = tuple[str, str]  # key, and a digest of all else


@dataclass(frozen=True, slots=True)
class Differences:
    """Keys of rows, sorted."""

    missing: list[str]
    added: list[str]  # including surplus copies of expected rows
    different: list[str]


def differences(expected: Iterable[Row], present: Iterable[Row]) -> Differences:
    """Compare rows by key.

    Parameters
    ----------
    expected : rows with distinct keys
    present : rows, in any order

    Raises
    ------
    ValueError
        If two expected rows have the same key.

    Examples
    --------
    >>> differences([("a", "1"), ("b", "2"), ("c", "3")], [("b", "2"), ("c", "4"), ("c", "3"), ("d", "5")])
    Differences(missing=['a'], added=['c', 'd'], different=[])
    >>> differences([("a", "1")], [("a", "2")]).different
    ['a']
    """
    wanted: dict[str, str] = {}
    for name, digest in expected:
        if name in wanted:
            raise ValueError(f"two expected rows have the name {name!r}")
        wanted[name] = digest
    found: dict[str, list[str]] = {}
    for name, digest in present:
        found.setdefault(name, []).append(digest)
    return Differences(
        missing=sorted(wanted.keys() - found.keys()),
        added=sorted(
            name for name, digests in found.items() for _ in range(len(digests) - (1 if name in wanted else 0))
        ),
        different=sorted(name for name in wanted.keys() & found.keys() if wanted[name] not in found[name]),
    )
