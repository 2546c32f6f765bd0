"""The only writers of saved searches. Each is one transaction and may be called twice."""

import secrets
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.search.algorithms.language import parse
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches

MAX_SAVED = 100  # of a person
MAX_NAME_LENGTH = 100  # characters


class NotSaved(ValueError):
    """A search cannot be kept so; the message says why."""


@transaction.atomic
def save_search(user: User, name: str, query: str, *, order: SavedSearch.Order, now: datetime) -> SavedSearch:
    """Keep a search; one of the same name becomes this one, and keeps the address of its feed.

    Raises
    ------
    BadQuery
        If the query cannot be read.
    NotSaved
        If it has no name, or the person keeps a hundred others.
    """
    parse(query)
    name = _checked(name)
    User.objects.select_for_update().get(pk=user.pk)  # or two at once would be one too many
    if saved_searches(user).exclude(name=name).count() >= MAX_SAVED:
        raise NotSaved(_("You have {most} saved searches, the maximum. Delete one first.").format(most=MAX_SAVED))
    values = {"query": query, "order": order, "saved_at": now}
    return SavedSearch.objects.update_or_create(
        user=user, name=name, defaults=values, create_defaults=values | {"secret": _secret()}
    )[0]


@transaction.atomic
def rename_search(user: User, saved_id: int, name: str) -> None:
    """
    Raises
    ------
    NotSaved
        If the name is empty or that of another search of the person.
    """
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
    """Give a search another name, query or order; what is not given stays.

    Raises
    ------
    BadQuery
        If the query cannot be read.
    NotSaved
        If the name is empty or that of another search of the person.
    """
    if query is not None:
        parse(query)
    if name is not None:
        rename_search(user, saved_id, name)
    asked = {"query": query, "order": order}
    if values := {field: value for field, value in asked.items() if value is not None}:
        saved_searches(user).filter(pk=saved_id).update(**values, saved_at=now)


def move_feed(user: User, saved_id: int) -> None:
    """Give the feed of a search another address; under the one that it had nothing is found any more."""
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
