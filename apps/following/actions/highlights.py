"""Highlighted passages and their notes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.following.actions.marks import checked_note
from apps.following.algorithms.passages import Passage, Text
from apps.following.models import Highlight
from apps.postings.models import Posting

MAX_HIGHLIGHTS = 10_000  # per user
MAX_OF_POSTING = 100  # per user
MAX_QUOTE_LENGTH = 5_000  # characters


@transaction.atomic
def highlight(user: User, posting: Posting, selected: Passage, *, note: str = "", now: datetime) -> Highlight:
    """Highlight a passage of a posting; raises `NotPossible`. A passage that is highlighted gets the note."""
    found = (Text(html) for html in (posting.html, posting.feed_html) if html)
    passage = next((text.passage(place) for text in found if (place := text.find(selected))), None)
    if passage is None:
        raise NotPossible(_("This passage is not in the article: copy it exactly."))
    values = {"quote": passage.quote, "prefix": passage.prefix, "suffix": passage.suffix}
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent highlights could exceed the limit
    highlights = Highlight.objects.filter(user=user)
    present = highlights.filter(posting=posting, **values).first()
    if present is None:
        of_posting = highlights.filter(posting=posting).count()
        if (
            len(passage.quote) > MAX_QUOTE_LENGTH
            or of_posting >= MAX_OF_POSTING
            or highlights.count() >= MAX_HIGHLIGHTS
        ):
            raise NotPossible(
                _(
                    "You can highlight at most {characters} characters at once, and {most} passages of an article."
                ).format(characters=f"{MAX_QUOTE_LENGTH:,}", most=MAX_OF_POSTING)
            )
        present = Highlight(user=user, posting=posting, made_at=now, **values)
    present.note = checked_note(note) or present.note
    present.save()
    return present


def write_highlight_note(user: User, highlight_id: int, note: str) -> bool:
    """Replace the note of a highlight; False if there is none. Raises `NotPossible` above a limit."""
    return Highlight.objects.filter(user=user, pk=highlight_id).update(note=checked_note(note)) > 0


def forget_highlight(user: User, highlight_id: int) -> bool:
    return Highlight.objects.filter(user=user, pk=highlight_id).delete()[0] > 0


@transaction.atomic
def restore_highlights(user: User, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> int:
    """Store highlights by posting id, unless present; returns the number of new ones."""
    User.objects.select_for_update().get(pk=user.pk)
    there = Highlight.objects.filter(user=user)
    columns = ("posting_id", "quote", "prefix", "suffix")
    known = set(there.filter(posting__in={id for id, _ in rows}).values_list(*columns))
    room = max(MAX_HIGHLIGHTS - there.count(), 0)
    fresh = {
        (id, *(values[name] for name in columns[1:])): Highlight(user=user, posting_id=id, **values)
        for id, values in rows
    }
    new = [row for key, row in fresh.items() if key not in known][:room]
    Highlight.objects.bulk_create(new, batch_size=1_000)
    return len(new)
