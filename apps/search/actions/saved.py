"""The only writers of saved searches. Each is one idempotent transaction."""

import secrets
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.search.algorithms.language import parse
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches

MAX_SAVED = 100  # per user
MAX_NAME_LENGTH = 100  # characters


class NotSaved(ValueError):
    """A search cannot be saved; the message has the reason."""


@transaction.atomic
def save_search(user: User, name: str, query: str, *, order: SavedSearch.Order, now: datetime) -> SavedSearch:
    """Save a search, or replace one of the same name, keeping its feed; raises `BadQuery` or `NotSaved`."""
    parse(query)
    name = _checked(name)
    User.objects.select_for_update().get(pk=user.pk)  # or two saved at once could exceed the limit
    if saved_searches(user).exclude(name=name).count() >= MAX_SAVED:
        raise NotSaved(_("You have {most} saved searches, the maximum. Delete one first.").format(most=MAX_SAVED))
    values = {"query": query, "order": order, "saved_at": now}
    return SavedSearch.objects.update_or_create(
        user=user, name=name, defaults=values, create_defaults=values | {"secret": _secret()}
    )[0]


@transaction.atomic
def rename_search(user: User, saved_id: int, name: str) -> None:
    """Rename a search; raises `NotSaved` for an empty name or that of another search."""
    name = _checked(name)
    User.objects.select_for_update().get(pk=user.pk)
    if saved_searches(user).filter(name=name).exclude(pk=saved_id).exists():
        raise NotSaved(_("You already have a saved search named “{name}”.").format(name=name))
    saved_searches(user).filter(pk=saved_id).update(name=name)


@transaction.atomic
def change_search(
    user: User,
    saved_id: int,
    *,
    name: str | None = None,
    query: str | None = None,
    order: SavedSearch.Order | None = None,
    now: datetime,
) -> None:
    """Change name, query or order of a search; None keeps it. Raises `BadQuery` or `NotSaved`."""
    if query is not None:
        parse(query)
    if name is not None:
        rename_search(user, saved_id, name)
    given = {"query": query, "order": order}
    if values := {field: value for field, value in given.items() if value is not None}:
        saved_searches(user).filter(pk=saved_id).update(**values, saved_at=now)


def move_feed(user: User, saved_id: int) -> None:
    """Give the feed of a search a new address; the old one stops working."""
    saved_searches(user).filter(pk=saved_id).update(secret=_secret())


def forget_search(user: User, saved_id: int) -> None:
    saved_searches(user).filter(pk=saved_id).delete()


def _checked(name: str) -> str:
    name = " ".join(name.split())[:MAX_NAME_LENGTH].strip()
    if not name:
        raise NotSaved(_("A search needs a name."))
    return name


def _secret() -> str:
    return secrets.token_urlsafe(32)
