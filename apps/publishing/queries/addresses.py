"""Reads of people's secret addresses."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.following.queries import Scope
from apps.publishing.models import PrivateAddress

Kind = PrivateAddress.Kind
_KINDS = {"all": Kind.ALL, "folder": Kind.FOLDER, "starred": Kind.STARRED, "tag": Kind.TAG}


def addresses_of(user: User) -> QuerySet[PrivateAddress]:
    return PrivateAddress.objects.filter(user=user)


def address_of_kind(user: User, kind: str) -> PrivateAddress | None:
    return addresses_of(user).filter(kind=kind, folder=None, tag=None).first()


def address_of_list(user: User, scope: Scope) -> PrivateAddress | None:
    """The address of one of the person's lists, if they have made one."""
    kind = _KINDS.get(scope.kind)
    if kind is None:
        return None
    folder, tag = (scope.id if scope.kind == name else None for name in ("folder", "tag"))
    return addresses_of(user).filter(kind=kind, folder=folder, tag=tag).first()


def address_by_secret(secret: str) -> PrivateAddress | None:
    """What a secret address opens, as long as the person may sign in."""
    found = PrivateAddress.objects.filter(secret=secret, user__is_active=True)
    return found.select_related("user", "folder", "tag").first()
