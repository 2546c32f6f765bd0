"""What a person read, starred, tagged, opened and hid."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.belongings.formats.records import line_of, records
from apps.belongings.members.base import AT_ONCE, Taking, batches, reference
from apps.belongings.options import options_in, options_of
from apps.following import queries
from apps.following.actions import LONGEST_TAG, NotPossible
from apps.following.models import Mark, Tagging
from apps.following.restoring import restore_marks, restore_tags
from apps.stories.actions.restoring import restore_reactions
from apps.stories.models import Reaction

MARKS, TAGS, REACTIONS = "marks.jsonl", "tags.jsonl", "reactions.jsonl"
KNOWN_OF_MARKS = {"changed_at"}
LEARNT_ANEW = {"learnt", "stale"}


def _by_posting(rows: "QuerySet[Any]") -> Iterator[Any]:
    """Rows with their postings, some at a time, by an index on the person and the posting."""
    told = (
        rows.select_related("posting__source")
        .order_by("posting_id")
        .defer(*(f"posting__{name}" for name in ("html", "text", "enclosures", "categories", "document")))
    )
    last = 0
    while batch := list(told.filter(posting_id__gt=last)[:AT_ONCE]):
        yield from batch
        last = batch[-1].posting_id


def write_marks(user: User) -> Iterator[bytes]:
    for mark in _by_posting(Mark.objects.filter(user=user)):
        told = {"changed_at": mark.changed_at} | options_of(mark, KNOWN_OF_MARKS)
        yield line_of(reference(mark.posting, mark.posting.source.url) | told)


def take_marks(taking: Taking) -> None:
    for batch in batches(records(taking.container, MARKS)):
        marks: dict[int, dict[str, Any]] = {}
        for record, posting_id in zip(batch, taking.posting_ids(batch), strict=True):
            changed_at = record.instant("changed_at")
            if changed_at is None:
                raise record.bad("“changed_at” is missing.")
            values = options_in(record, Mark, KNOWN_OF_MARKS) | {"changed_at": min(changed_at, taking.now)}
            if values.get("starred_at"):
                values["starred_at"] = min(values["starred_at"], taking.now)
            if posting_id is None:
                taking.elsewhere[MARKS] += 1
            else:
                marks[posting_id] = {"read": None, "starred_at": None} | values
        taking.restored[MARKS] += restore_marks(taking.user, marks)


def write_tags(user: User) -> Iterator[bytes]:
    for tag in queries.tags_of(user):
        yield line_of({"tag": tag.name})
        for tagging in _by_posting(Tagging.objects.filter(tag=tag)):
            told = {"tag": tag.name, "tagged_at": tagging.tagged_at}
            yield line_of(told | reference(tagging.posting, tagging.posting.source.url))


def take_tags(taking: Taking) -> None:
    for batch in batches(records(taking.container, TAGS)):
        about_postings = [record for record in batch if "source" in record.values]
        found = dict(zip(map(id, about_postings), taking.posting_ids(about_postings), strict=True))
        tagged = []
        for record in batch:
            name = record.text("tag", longest=LONGEST_TAG)
            at = record.instant("tagged_at") or taking.now
            posting_id = found.get(id(record))
            taking.elsewhere[TAGS] += id(record) in found and posting_id is None
            tagged.append((name, posting_id, min(at, taking.now)))
        try:
            taking.restored[TAGS] += restore_tags(taking.user, tagged)
        except NotPossible as problem:
            raise batch[0].bad(str(problem)) from problem


def write_reactions(user: User) -> Iterator[bytes]:
    for reaction in _by_posting(Reaction.objects.filter(user=user)):
        told = options_of(reaction, LEARNT_ANEW)
        yield line_of(reference(reaction.posting, reaction.posting.source.url) | told)


def take_reactions(taking: Taking) -> None:
    for batch in batches(records(taking.container, REACTIONS)):
        reactions: dict[int, dict[str, Any]] = {}
        for record, posting_id in zip(batch, taking.posting_ids(batch), strict=True):
            values = options_in(record, Reaction, LEARNT_ANEW)
            if posting_id is None:
                taking.elsewhere[REACTIONS] += 1
            else:
                reactions[posting_id] = {"changed_at": taking.now} | values
        taking.restored[REACTIONS] += restore_reactions(taking.user, reactions)
