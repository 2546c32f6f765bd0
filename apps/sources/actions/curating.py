"""One decision on many sources at once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from uuid import uuid4

from django.db import transaction

from apps.sources.actions.auditing import By, Noted, changes, name_of, note, written
from apps.sources.models import AuditEntry, Source

MAX_AT_ONCE = 5_000  # sources; more would hold their rows for too long
MAX_DELETED = 200  # with their postings
LEAST_WEIGHT, MOST_WEIGHT = 0.0, 1_000.0


class TooMany(ValueError):
    """More sources than may be changed at once; the message says how many may."""


@dataclass(frozen=True, slots=True)
class Curation:
    """What is to become of sources; what is None stays as it is."""

    category: str | None = None
    language: str | None = None
    listed: bool | None = None
    weight: float | None = None  # either a weight for all of them,
    factor: float | None = None  # or what the weight of each is multiplied by
    state: Source.State | None = None  # paused: those that are active; active: all others

    @property
    def is_nothing(self) -> bool:
        return self == Curation()


@dataclass(frozen=True, slots=True)
class Curated:
    """What came of it."""

    changed: tuple[int, ...]  # sources
    same: int  # that were so already
    refused: tuple[str, ...]  # names of those whose weight would lie beyond what a weight may be; all of them stayed
    missing: int  # that are not there any more


@transaction.atomic
def curate(source_ids: Collection[int], wish: Curation, *, by: By) -> Curated:
    """Change what is wished of all these sources, or of none; a source whose weight would not be one stays as it is.

    Raises
    ------
    TooMany
        If they are more than MOST_AT_ONCE.
    ValueError
        If a weight is none, or both a weight and a factor are given.
    """
    _check(source_ids, wish)
    rows = list(
        Source.objects.filter(pk__in=source_ids, site=None)
        .order_by("pk")  # whoever else locks several goes the same way
        .select_for_update(no_key=True)  # what is stored of them meanwhile has nothing to wait for
        .only("title", "url", "category", "language", "listed", "weight", "state")
    )
    refused = {
        source.pk: name_of(source)
        for source in rows
        if wish.factor is not None and weight_times(source.weight, wish.factor) > MOST_WEIGHT
    }
    wished = {source.pk: _wished(source, wish) for source in rows if source.pk not in refused}
    decisions: list[Noted] = []
    for source in rows:
        after = wished.get(source.pk, {})
        decisions += changes(source.pk, name_of(source), {name: getattr(source, name) for name in after}, after)
    _write(rows, wished)
    note(decisions, replace(by, batch=by.batch or uuid4()))
    changed = dict.fromkeys(each.source_id for each in decisions if each.source_id is not None)
    return Curated(
        changed=tuple(changed),
        same=len(wished) - len(changed),
        refused=tuple(refused.values()),
        missing=len(set(source_ids)) - len(rows),
    )


def _check(source_ids: Collection[int], wish: Curation) -> None:
    if len(source_ids) > MAX_AT_ONCE:
        raise TooMany(f"At most {MAX_AT_ONCE:,} feeds can be changed at once, not {len(source_ids):,}.")
    if wish.weight is not None and wish.factor is not None:
        raise ValueError("Give either a weight or a factor, not both.")
    for name, value in (("weight", wish.weight), ("factor", wish.factor)):
        if value is not None and not (isfinite(value) and LEAST_WEIGHT <= value <= MOST_WEIGHT):
            raise ValueError(f"A {name} must be between {LEAST_WEIGHT:g} and {MOST_WEIGHT:,.0f}, not {value:g}.")


def _wished(source: Source, wish: Curation) -> dict[str, object]:
    """The columns of a source as they are to be."""
    after: dict[str, object] = {
        name: value
        for name, value in (("category", wish.category), ("language", wish.language), ("listed", wish.listed))
        if value is not None
    }
    if wish.weight is not None:
        after["weight"] = wish.weight
    if wish.factor is not None:
        after["weight"] = weight_times(source.weight, wish.factor)
    if wish.state is not None and (wish.state != Source.State.PAUSED or source.state == Source.State.ACTIVE):
        after["state"] = wish.state.value
    return after


def weight_times(weight: float, factor: float) -> float:
    """A weight multiplied, to six digits: what is doubled and halved again is as it was.

    >>> weight_times(0.1, 3.0), weight_times(2.0, 0.5)
    (0.3, 1.0)
    """
    return float(f"{weight * factor:.6g}")


def _write(rows: Sequence[Source], wished: Mapping[int, Mapping[str, object]]) -> None:
    """One statement for each column and value."""
    groups: dict[tuple[str, object], list[int]] = {}
    for source in rows:
        for name, value in wished.get(source.pk, {}).items():
            if getattr(source, name) != value:
                groups.setdefault((name, value), []).append(source.pk)
    for (name, value), ids in groups.items():
        Source.objects.filter(pk__in=ids).update(**{name: value})


@transaction.atomic
def delete_sources(source_ids: Collection[int], *, by: By) -> int:
    """Delete sources with their postings, follows and logs; returns how many there were.

    Raises
    ------
    TooMany
        If they are more than MOST_DELETED.
    """
    if len(source_ids) > MAX_DELETED:
        raise TooMany(f"At most {MAX_DELETED} feeds can be deleted at once, not {len(source_ids):,}.")
    # Not locked: workers lock the schedule first, which is deleted before its source.
    rows = list(Source.objects.filter(pk__in=source_ids).order_by("pk"))
    deleted = [Noted(AuditEntry.What.DELETED, written(source.url), "", source.pk, name_of(source)) for source in rows]
    Source.objects.filter(pk__in=[source.pk for source in rows]).delete()
    note(deleted, by if len(rows) < 2 else replace(by, batch=by.batch or uuid4()))
    return len(rows)
