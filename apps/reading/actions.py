"""What people do that concerns more than one app. Each is one transaction, but for what asks other sites."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.following import actions as following
from apps.retrieval import actions as retrieval
from apps.sources import actions as sources
from apps.sources.formats.opml import OpmlDocument
from apps.sources.models import Source


@transaction.atomic
def follow(user: User, source_id: int, *, now: datetime, folder_ids: Collection[int] = ()) -> None:
    following.follow(user, [source_id], now=now, folder_ids=folder_ids)
    retrieval.adopt_sources([source_id], now=now)


@transaction.atomic
def unfollow(user: User, source_id: int, *, now: datetime) -> None:
    following.unfollow(user, source_id)
    retrieval.adopt_sources([source_id], now=now)


def follow_address(user: User, address: str, *, now: datetime, folder_ids: Collection[int] = ()) -> retrieval.Discovery:
    """Follow the source at an address, if there is one; otherwise the discovery says what was found instead."""
    found = retrieval.discover(address, now=now)
    if found.source_id is not None:
        follow(user, found.source_id, now=now, folder_ids=folder_ids)
    return found


@transaction.atomic
def import_list(user: User, document: OpmlDocument, *, now: datetime) -> following.ImportReport:
    report = following.import_list(user, document, now=now)
    retrieval.adopt_sources(report.followed, now=now)
    return report


@transaction.atomic
def add_source(values: Mapping[str, object], *, now: datetime) -> int:
    """Add a source as staff describe it; one that exists already becomes what they say.

    Raises
    ------
    BadAddress
        If its address cannot be meant.
    """
    source_id = sources.add_source(sources.NewSource(url=str(values["url"])))
    edit_source(source_id, now=now, **values)
    return source_id


@transaction.atomic
def edit_source(source_id: int, *, now: datetime, **values: object) -> None:
    if sources.edit_source(source_id, **values):
        retrieval.forget_answers(source_id, now=now)
    retrieval.adopt_sources([source_id], now=now)


@transaction.atomic
def set_state(source_id: int, state: Source.State, *, now: datetime) -> None:
    sources.set_state([source_id], state)
    retrieval.adopt_sources([source_id], now=now)
