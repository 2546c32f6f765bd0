"""The only writers of private addresses. Each is idempotent."""

import secrets
from datetime import datetime

from apps.accounts.models import User
from apps.following.queries import folder_of, tag_of
from apps.published_feeds.models import PrivateAddress
from apps.published_feeds.queries.addresses import addresses_of

Kind = PrivateAddress.Kind


class NoSuchList(LookupError):
    """The person has no such list."""


def make_address(user: User, kind: str, list_id: int = 0, *, now: datetime) -> PrivateAddress:
    """Give a list of the person a secret address, or return the present one. Raises NoSuchList for an unknown list."""
    if kind not in Kind.values:
        raise NoSuchList(kind)
    folder = folder_of(user, list_id) if kind == Kind.FOLDER else None
    tag = tag_of(user, list_id) if kind == Kind.TAG else None
    if (kind == Kind.FOLDER and folder is None) or (kind == Kind.TAG and tag is None):
        raise NoSuchList(f"{kind} {list_id}")
    return PrivateAddress.objects.get_or_create(
        user=user, kind=kind, folder=folder, tag=tag, defaults={"secret": _secret(), "made_at": now}
    )[0]


def renew_address(user: User, address_id: int, *, now: datetime) -> bool:
    """Replace a list's address; the former one stops working. False if the person has no such address."""
    return bool(addresses_of(user).filter(pk=address_id).update(secret=_secret(), made_at=now))


def end_address(user: User, address_id: int) -> bool:
    """Delete a list's address; False if the person has no such address."""
    return bool(addresses_of(user).filter(pk=address_id).delete()[0])


def _secret() -> str:
    return secrets.token_urlsafe(32)
