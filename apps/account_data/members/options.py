"""Options by the names of their columns, so that new columns of a model are exported without further code."""

from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import DateTimeField, Field, Model
from django.utils.timezone import is_naive

from apps.account_data.formats.records import Record


def _optional(model: type[Model], known: Collection[str]) -> list["Field[Any, Any]"]:
    fields = model._meta.concrete_fields
    return [field for field in fields if not (field.is_relation or field.primary_key or field.name in known)]


def options_of(instance: Model, known: Collection[str]) -> dict[str, Any]:
    """The values of all columns except relations and those in `known`, which are written separately."""
    return {field.name: field.value_from_object(instance) for field in _optional(type(instance), known)}


def options_in(record: Record, model: type[Model], known: Collection[str]) -> dict[str, Any]:
    """The values of such columns in a record; unknown names are ignored. Raises BadArchive for an invalid value."""
    options: dict[str, Any] = {}
    for field in _optional(model, known):
        value = record.values.get(field.name)
        if field.name not in record.values or (value is None and not field.null):
            continue
        try:
            options[field.name] = None if value is None else field.clean(value, None)
        except (ValidationError, TypeError, ValueError):
            raise record.bad(f"“{field.name}” cannot have that value.") from None
        if isinstance(field, DateTimeField) and value is not None and is_naive(options[field.name]):
            raise record.bad(f"“{field.name}” is not a time with a zone.")
    return options
