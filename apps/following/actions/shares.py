"""Postings shared by a secret address."""

from datetime import datetime
from secrets import token_urlsafe

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.following.models import Share

MAX_SHARES = 1_000  # of a user


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
