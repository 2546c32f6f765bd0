"""Actions on the front page's sections."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Max

from apps.database.advisory_locks import take
from apps.stories.models import Section
from apps.stories.queries.sections import MAX_SECTIONS, tree_of

_ORDERLY = 0x53454354  # advisory lock: serializes changes of the sections' order and number


class NotASection(ValueError):
    """A section has invalid values."""


@transaction.atomic
def add_section(values: Mapping[str, Any], *, now: datetime) -> Section:
    """Add a section with these columns as the last one.

    Raises BadQuery for a wrong query or language, and NotASection if it has neither query, category nor language, if
    another one has its address, or at the limit of their number.
    """
    take(_ORDERLY)
    _check(values, None)
    if Section.objects.count() >= MAX_SECTIONS:
        raise NotASection(f"There are {MAX_SECTIONS} sections, the maximum. Delete one first.")
    last = Section.objects.aggregate(last=Max("place", default=0))["last"]
    return Section.objects.create(**values, place=last + 1, changed_at=now)


@transaction.atomic
def edit_section(section_id: int, values: Mapping[str, Any], *, now: datetime) -> None:
    """Change a section and invalidate its cached contents. Raises what `add_section` does."""
    take(_ORDERLY)
    _check(values, section_id)
    Section.objects.filter(pk=section_id).update(**values, revision=F("revision") + 1, changed_at=now)


@transaction.atomic
def move_section(section_id: int, *, up: bool) -> None:
    """Swap a section with its neighbour, if there is one."""
    take(_ORDERLY)
    ids = list(Section.objects.order_by("place", "pk").values_list("pk", flat=True))
    if section_id not in ids:
        return
    at = ids.index(section_id)
    other = at - 1 if up else at + 1
    if 0 <= other < len(ids):
        ids[at], ids[other] = ids[other], ids[at]
    for place, id in enumerate(ids, 1):
        Section.objects.filter(pk=id).exclude(place=place).update(place=place)


def delete_section(section_id: int) -> None:
    Section.objects.filter(pk=section_id).delete()


def _check(values: Mapping[str, Any], section_id: int | None) -> None:
    section = Section(**values)
    tree_of(section)
    if not (section.query.strip() or section.category.strip() or section.language.strip()):
        raise NotASection("A section needs a query, a category or a language.")
    others = Section.objects.all() if section_id is None else Section.objects.exclude(pk=section_id)
    if others.filter(slug=section.slug).exists():
        raise NotASection(f"Another section already has the address {section.slug}.")
