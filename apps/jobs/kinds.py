"""Kinds of jobs. Apps register theirs in a module named ``jobs``, which is looked for at the first need."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.module_loading import autodiscover_modules

Parameters = Mapping[str, Any]  # as JSON has them
# Amounts by name, which are summed over splits; `problems`: some sentences; `emitted`: pairs of a key and a value, of a
# kind that has parts.
Output = Mapping[str, Any]
Beat = Callable[[], None]
Write = Callable[[], Output]


@dataclass(frozen=True, slots=True)
class Piece:
    """What shall be a split."""

    parameters: Parameters
    records: int
    size: float  # how much work it is, in any measure in which the kind's pieces can be compared
    key: str = ""  # what else its time may go by: the host that is asked, say


@dataclass(frozen=True, slots=True)
class Stage:
    """How a job, or what follows from its splits, is cut and worked on.

    ``cut`` is given the job's parameters and may be called in a transaction. ``work`` is given the split's; it calls
    its beat every few seconds, never within a transaction, and lets pass what that raises: the attempt has ended. It
    writes nothing that could not be written twice, and gives back what writes the rest. That is called in the
    transaction in which the attempt is made the one that counts, if it is, so it should not take long.

    Where the first stage emits, a split of the second is told the `job` and the `part`, and nothing is to be cut.
    """

    work: Callable[[Parameters, Beat], Write]
    cut: Callable[[Parameters], Iterable[Piece]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    title: Promise  # for people
    records: Promise  # what is counted, in the plural
    map: Stage
    reduce: Stage | None = None  # once all splits of the first stage are done
    options: tuple[str, ...] = ()  # names of parameters, whole numbers, that a person may give
    backups: bool = True  # a slow attempt may have another run beside it
    parts: int = 0  # into which what the first stage emits is divided by its keys, each a split of the second
    in_order: bool = False  # splits are begun in the order of their cut, instead of the longest first
    tidy: Callable[[], None] | None = None  # done by a worker after each split, whatever becomes of it


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    _kinds[kind.name] = kind


def all_kinds() -> list[Kind]:
    _discover()
    return sorted(_kinds.values(), key=lambda kind: kind.name)


def kind_of(name: str) -> Kind:
    """
    Raises
    ------
    LookupError
        If no app knows it: the job is of another release, perhaps.
    """
    _discover()
    if name not in _kinds:
        raise LookupError(f"This portal knows no jobs of the kind {name!r}, only {', '.join(sorted(_kinds))}.")
    return _kinds[name]


@functools.cache
def _discover() -> None:
    """Not at the start: these modules load what reading and extracting need, which many processes never do."""
    autodiscover_modules("jobs")
