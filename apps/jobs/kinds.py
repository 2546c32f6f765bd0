"""Kinds of jobs. Apps register theirs in a module named ``jobs``, imported at the first use."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.module_loading import autodiscover_modules

Parameters = Mapping[str, Any]  # JSON values
# Amounts by name, summed over splits; `problems`: sentences; `emitted`: pairs of key and value, of a kind with parts.
Output = Mapping[str, Any]
Beat = Callable[[], None]
Write = Callable[[], Output]


class Piece(NamedTuple):
    """A split to be."""

    parameters: Parameters
    records: int
    size: float  # amount of work, in a unit of the kind's own
    key: str = ""  # an attribute that may determine its time, such as the host


class Stage(NamedTuple):
    """How a stage of a job is cut into splits and worked on.

    ``cut`` gets the job's parameters and may be called in a transaction. ``work`` gets the split's; it calls its beat
    every few seconds, never within a transaction, and does not catch what that raises: the attempt has ended. It writes
    only what may be written twice, and returns a function that writes the rest, called in the transaction that commits
    the attempt, so it should be quick.

    Where the first stage emits, the parameters of a split of the second are `job` and `part`, and ``cut`` is not used.
    """

    work: Callable[[Parameters, Beat], Write]
    cut: Callable[[Parameters], Iterable[Piece]] = lambda _: ()


class Kind(NamedTuple):
    name: str
    title: Promise  # for people
    records: Promise  # what is counted, in the plural
    map: Stage
    reduce: Stage | None = None  # once all splits of the first stage are done
    options: tuple[str, ...] = ()  # names of integer parameters that a person may set
    backups: bool = True  # a slow attempt may get a second one beside it
    parts: int = 0  # of the emitted keys, each a split of the second stage
    in_order: bool = False  # splits begin in the order of their cut instead of the longest first
    after_split: Callable[[], None] | None = None  # called by the worker when each is committed


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    _kinds[kind.name] = kind


def all_kinds() -> list[Kind]:
    _discover()
    return sorted(_kinds.values(), key=lambda kind: kind.name)


def kind_of(name: str) -> Kind:
    """The registered kind, or LookupError: the job may be of another release."""
    _discover()
    if name not in _kinds:
        raise LookupError(f"This portal knows no jobs of the kind {name!r}, only {', '.join(sorted(_kinds))}.")
    return _kinds[name]


@functools.cache
def _discover() -> None:
    """Import the modules at the first use: they are heavy, and many processes need none."""
    autodiscover_modules("jobs")
