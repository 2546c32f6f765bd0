"""Postings that people show to whoever knows an address."""

from datetime import datetime
from secrets import token_urlsafe

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.following.models import Share

MAX_SHARES = 1_000  # of a person


@transaction.atomic
def share(user: User, posting_id: int, *, now: datetime) -> Share:
    """Give a posting a secret address, or return the one that it has.

    Raises NotPossible if the person shares too many postings already.
    """
    User.objects.select_for_update().get(pk=user.pk)  # or two new ones at once would be one too many
    shares = Share.objects.filter(user=user)
    present = shares.filter(posting_id=posting_id).first()
    if present is not None:
        return present
    if shares.count() >= MAX_SHARES:
        raise NotPossible(_("You can share at most %(most)s articles.") % {"most": f"{MAX_SHARES:,}"})
    return Share.objects.create(user=user, posting_id=posting_id, secret=token_urlsafe(24), shared_at=now)


def unshare(user: User, posting_id: int) -> bool:
    """Let the secret address lead nowhere; shared once more, the posting gets another one."""
    deleted, _by_model = Share.objects.filter(user=user, posting_id=posting_id).delete()
    return deleted > 0
