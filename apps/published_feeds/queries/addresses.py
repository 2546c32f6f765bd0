"""Reads of private addresses."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.database.statements import fetch
from apps.published_feeds.models import PrivateAddress


def addresses_of(user: User) -> QuerySet[PrivateAddress]:
    return PrivateAddress.objects.filter(user=user)


_SECRET = """
SELECT secret FROM published_feeds_privateaddress WHERE user_id = %s AND kind = %s
    AND folder_id IS NOT DISTINCT FROM %s::bigint AND tag_id IS NOT DISTINCT FROM %s::bigint
"""


def secret_of_list(user: User, kind: str, list_id: int) -> str | None:
    """The secret of one of the person's lists, None if it has no address."""
    folder, tag = (list_id if kind == name else None for name in ("folder", "tag"))
    return next((secret for (secret,) in fetch(_SECRET, [user.pk, kind, folder, tag], generic=True)), None)


def address_by_secret(secret: str) -> PrivateAddress | None:
    """The address with this secret, unless its owner's account is inactive."""
    found = PrivateAddress.objects.filter(secret=sanitize(secret), user__is_active=True)
    return found.select_related("user", "folder", "tag").first()
