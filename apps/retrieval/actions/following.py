"""Following sources, which decides whether they are checked. Each is one transaction, except for requests to sites."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.following import actions as following
from apps.retrieval.actions.adding import Discovery, accept, discover
from apps.retrieval.actions.planning import adopt_sources
from apps.sources.formats.opml import OpmlDocument


def follow(user: User, source_id: int, *, now: datetime, folder_ids: Collection[int] = ()) -> None:
    follow_all(user, [source_id], now=now, folder_ids=folder_ids)


@transaction.atomic
def follow_all(user: User, source_ids: Sequence[int], *, now: datetime, folder_ids: Collection[int] = ()) -> list[int]:
    """Follow sources and check new ones at once; returns the ids of the newly followed.

    Raises NotPossible if the user would follow too many; none is followed then.
    """
    fresh = following.follows.follow(user, source_ids, now=now, folder_ids=folder_ids)
    adopt_sources(source_ids, now=now)
    return fresh


@transaction.atomic
def unfollow(user: User, source_id: int, *, now: datetime) -> None:
    following.follows.unfollow(user, source_id)
    adopt_sources([source_id], now=now)


def follow_address(
    user: User, address: str, *, now: datetime, folder_ids: Collection[int] = (), accepted: str = ""
) -> Discovery:
    """Follow the source at an address, if there is one; otherwise the discovery has choices, an offer or a problem.

    An offer whose kind is `accepted` becomes a source. Raises TooOften and NotPossible as `discover`, `accept` and
    `follow_all` do.
    """
    found = discover(user, address, now=now)
    if found.offer and found.offer.kind == accepted:
        found = Discovery(source_id=accept(user, found.offer))
    if found.source_id is not None:
        follow(user, found.source_id, now=now, folder_ids=folder_ids)
    return found


@transaction.atomic
def import_list(user: User, document: OpmlDocument, *, now: datetime) -> following.follows.ImportReport:
    report = following.follows.import_list(user, document, now=now)
    adopt_sources(report.followed, now=now)
    return report
