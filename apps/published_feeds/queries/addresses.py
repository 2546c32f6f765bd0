"""Reads of private addresses."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.database.statements import fetch
from apps.following.queries import Scope
from apps.published_feeds.models import PrivateAddress

Kind = PrivateAddress.Kind
_OF_RIVERS = (Kind.ALL, Kind.FOLDER, Kind.STARRED, Kind.TAG)


def addresses_of(user: User) -> QuerySet[PrivateAddress]:
    return PrivateAddress.objects.filter(user=user)


def secret_of_shared(user: User) -> str | None:
    return addresses_of(user).filter(kind=Kind.SHARED).values_list("secret", flat=True).first()


_SECRET = """
SELECT secret FROM published_feeds_privateaddress WHERE user_id = %s AND kind = %s
    AND folder_id IS NOT DISTINCT FROM %s::bigint AND tag_id IS NOT DISTINCT FROM %s::bigint
"""


def secret_of_list(user: User, scope: Scope) -> str | None:
    """The secret of one of the person's lists, None if it has no address."""
    if scope.kind not in _OF_RIVERS:
        return None
    folder, tag = (scope.id if scope.kind == name else None for name in ("folder", "tag"))
    return next((secret for (secret,) in fetch(_SECRET, [user.pk, scope.kind, folder, tag])), None)


def address_by_secret(secret: str) -> PrivateAddress | None:
    """The address with this secret, unless its owner's account is inactive."""
    found = PrivateAddress.objects.filter(secret=sanitize(secret), user__is_active=True)
    return found.select_related("user", "folder", "tag").first()
