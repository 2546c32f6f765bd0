"""What people write down about postings."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.following.models import Note

MAX_NOTES = 10_000  # of a person
MAX_NOTE_LENGTH = 10_000  # characters


@transaction.atomic
def write_note(user: User, posting_id: int, text: str, *, now: datetime) -> bool:
    """Keep what a person writes about a posting in place of what they wrote before; False if that is nothing any more.

    Raises NotPossible if it is too long, or would be one more than a person can have.
    """
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    if not text:
        delete_note(user, posting_id)
        return False
    if len(text) > MAX_NOTE_LENGTH:
        raise NotPossible(
            _("A note can have at most %(most)s characters; this one has %(count)s.")
            % {"most": f"{MAX_NOTE_LENGTH:,}", "count": f"{len(text):,}"}
        )
    User.objects.select_for_update().get(pk=user.pk)  # or two new ones at once would be one too many
    notes = Note.objects.filter(user=user)
    if not notes.filter(posting_id=posting_id).exists() and notes.count() >= MAX_NOTES:
        raise NotPossible(_("You can have at most %(most)s notes.") % {"most": f"{MAX_NOTES:,}"})
    Note.objects.update_or_create(user=user, posting_id=posting_id, defaults={"text": text, "changed_at": now})
    return True


def delete_note(user: User, posting_id: int) -> bool:
    deleted, _by_model = Note.objects.filter(user=user, posting_id=posting_id).delete()
    return deleted > 0
