"""Notes on postings, and postings shared by a secret address."""

from datetime import datetime
from secrets import token_urlsafe

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.following.models import Note, Share

MAX_NOTES = 10_000  # of a user
MAX_NOTE_LENGTH = 10_000  # characters
MAX_SHARES = 1_000  # of a user


@transaction.atomic
def write_note(user: User, posting_id: int, text: str, *, now: datetime) -> bool:
    """Store or replace a user's note; an empty one is deleted, and False returned. Raises NotPossible above a limit."""
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    if not text:
        delete_note(user, posting_id)
        return False
    if len(text) > MAX_NOTE_LENGTH:
        raise NotPossible(
            _("A note can have at most %(most)s characters; this one has %(count)s.")
            % {"most": f"{MAX_NOTE_LENGTH:,}", "count": f"{len(text):,}"}
        )
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent notes could exceed the limit
    notes = Note.objects.filter(user=user)
    if not notes.filter(posting_id=posting_id).exists() and notes.count() >= MAX_NOTES:
        raise NotPossible(_("You can have at most %(most)s notes.") % {"most": f"{MAX_NOTES:,}"})
    Note.objects.update_or_create(user=user, posting_id=posting_id, defaults={"text": text, "changed_at": now})
    return True


def delete_note(user: User, posting_id: int) -> bool:
    deleted, _by_model = Note.objects.filter(user=user, posting_id=posting_id).delete()
    return deleted > 0


@transaction.atomic
def share(user: User, posting_id: int, *, now: datetime) -> Share:
    """Create the secret address of a posting, or return the existing one. Raises NotPossible for too many shares."""
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent shares could exceed the limit
    shares = Share.objects.filter(user=user)
    present = shares.filter(posting_id=posting_id).first()
    if present is not None:
        return present
    if shares.count() >= MAX_SHARES:
        raise NotPossible(_("You can share at most %(most)s articles.") % {"most": f"{MAX_SHARES:,}"})
    return Share.objects.create(user=user, posting_id=posting_id, secret=token_urlsafe(24), shared_at=now)


def unshare(user: User, posting_id: int) -> bool:
    """Delete the secret address; sharing again creates another one."""
    deleted, _by_model = Share.objects.filter(user=user, posting_id=posting_id).delete()
    return deleted > 0
