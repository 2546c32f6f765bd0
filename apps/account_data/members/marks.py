"""What a user has read, starred, tagged, noted, opened, played and hidden."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import DateTimeField, Field, Model, QuerySet

from apps.account_data.formats.records import Record, line_of
from apps.account_data.members.base import AT_ONCE, AboutPostings, Values, in_batches, reference
from apps.accounts.models import User
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.actions.highlights import MAX_QUOTE_LENGTH, restore_highlights
from apps.following.actions.marks import MAX_NOTE_LENGTH, MAX_TAG_LENGTH, checked_tag
from apps.following.actions.restoring import Own, restore_marks, restore_rows, restore_tags
from apps.following.models import Highlight, Mark, Note, Playback, Reading, Tagging
from apps.following.queries import states
from apps.postings.models import Posting
from apps.stories.actions.learning import restore_reactions
from apps.stories.models import Reaction

MARKS, TAGS, REACTIONS = "marks.jsonl", "tags.jsonl", "reactions.jsonl"
HIGHLIGHTS = "highlights.jsonl"
NOTES, HISTORY, PLACES = "notes.jsonl", "history.jsonl", "places.jsonl"
KNOWN_OF_MARKS = {"changed_at", "marked_all"}
DERIVED_OF_REACTIONS = {"learnt", "stale"}  # computed again after the import


def _by_posting(rows: "QuerySet[Any]") -> Iterator[Any]:
    """Rows with their postings in batches, by an index on user and posting."""
    unused = (f"posting__{name}" for name in ("html", "text", "enclosures", "categories", "document"))
    return in_batches(rows.select_related("posting__source").defer(*unused), "posting_id")


def write_marks(user: User) -> Iterator[bytes]:
    late = set(states.unread_before(user))
    for mark in _by_posting(Mark.objects.filter(user=user)):
        values = {"changed_at": mark.changed_at} | options_of(mark, KNOWN_OF_MARKS)
        if mark.posting_id in late:
            late.remove(mark.posting_id)
            values["read"] = False
        yield line_of(reference(mark.posting) | values)
    for posting in Posting.objects.filter(pk__in=late).select_related("source").order_by("pk").iterator(AT_ONCE):
        yield line_of(reference(posting) | {"changed_at": posting.retrieved_at, "read": False})


def _read_mark(record: Record, now: datetime) -> Values:
    changed_at = record.moment("changed_at")
    if changed_at is None:
        raise record.bad("“changed_at” is missing.")
    values = {"read": None, "starred_at": None} | options_in(record, Mark, KNOWN_OF_MARKS)
    if values["starred_at"]:
        values["starred_at"] = min(values["starred_at"], now)
    return values | {"changed_at": min(changed_at, now)}


def write_tags(user: User) -> Iterator[bytes]:
    for tag in queries.tags_of(user):
        yield line_of({"tag": tag.name})
        for tagging in _by_posting(Tagging.objects.filter(tag=tag)):
            yield line_of({"tag": tag.name, "tagged_at": tagging.tagged_at} | reference(tagging.posting))


def _read_tag(record: Record, now: datetime) -> Values:
    try:
        name = checked_tag(record.text("tag", longest=MAX_TAG_LENGTH))
    except NotPossible as problem:
        raise record.bad(str(problem)) from problem
    return {"name": name, "at": min(record.moment("tagged_at") or now, now)}


def _write_tags(user: User, tagged: Sequence[tuple[int | None, Values]]) -> int:
    return restore_tags(user, [(values["name"], posting_id, values["at"]) for posting_id, values in tagged])


def write_highlights(user: User) -> Iterator[bytes]:
    for each in in_batches(Highlight.objects.filter(user=user).select_related("posting__source")):
        yield line_of(reference(each.posting) | options_of(each, ()))


def _read_highlight(record: Record, now: datetime) -> Values:
    longest = {"quote": MAX_QUOTE_LENGTH, "prefix": 100, "suffix": 100, "note": MAX_NOTE_LENGTH}
    values: Values = {name: record.text(name, longest=most, otherwise="") for name, most in longest.items()}
    if not values["quote"].strip():
        raise record.bad("“quote” is missing.")
    return values | {"made_at": min(record.moment("made_at") or now, now)}


def _write_highlights(user: User, rows: Sequence[tuple[int | None, Values]]) -> int:
    return restore_highlights(user, [(posting_id, values) for posting_id, values in rows if posting_id is not None])


def write_reactions(user: User) -> Iterator[bytes]:
    for reaction in _by_posting(Reaction.objects.filter(user=user)):
        yield line_of(reference(reaction.posting) | options_of(reaction, DERIVED_OF_REACTIONS))


def _read_reaction(record: Record, now: datetime) -> Values:
    return {"changed_at": now} | options_in(record, Reaction, DERIVED_OF_REACTIONS)


def _of_postings(
    read: Callable[[Record, datetime], Values], restore: Callable[[User, dict[int, Values]], int]
) -> AboutPostings:
    """A member of which every line is about a posting."""

    def write(user: User, rows: Sequence[tuple[int | None, Values]]) -> int:
        return restore(user, {posting_id: values for posting_id, values in rows if posting_id is not None})

    return AboutPostings(read, write)


def _rows(model: type[Own]) -> tuple[Callable[[User], Iterator[bytes]], AboutPostings]:
    """Writer and reader of a model with one row per user and posting. Existing rows stay."""

    def write(user: User) -> Iterator[bytes]:
        for row in _by_posting(model.objects.filter(user=user)):
            yield line_of(reference(row.posting) | options_of(row, ()))

    def read(record: Record, now: datetime) -> Values:
        values = options_in(record, model, ())
        if missing := _optional(model, values):
            raise record.bad(f"“{missing[0].name}” is missing.")
        return {name: min(value, now) if isinstance(value, datetime) else value for name, value in values.items()}

    return write, _of_postings(read, lambda user, rows: restore_rows(model, user, rows))


write_notes, take_notes = _rows(Note)
write_history, take_history = _rows(Reading)
write_places, take_places = _rows(Playback)
take_marks = _of_postings(_read_mark, restore_marks)
take_highlights = AboutPostings(_read_highlight, _write_highlights)
take_tags = AboutPostings(_read_tag, _write_tags)
take_reactions = _of_postings(_read_reaction, restore_reactions)


# --- columns that need no code of their own ---------------------------------------------------------------------------
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
        if isinstance(field, DateTimeField):
            options[field.name] = record.moment(field.name)
            continue
        try:
            options[field.name] = None if value is None else field.clean(value, None)
        except (ValidationError, TypeError, ValueError):
            raise record.bad(f"“{field.name}” cannot have that value.") from None
    return options
