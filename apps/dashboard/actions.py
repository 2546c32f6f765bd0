"""Actions of staff that concern several apps, each one transaction."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from apps.accounts import actions as accounts
from apps.following import actions as following
from apps.postings import actions as postings
from apps.postings import queries as postings_queries
from apps.retrieval import actions as retrieval
from apps.sources import queries as source_queries
from apps.sources.actions import curating, editing
from apps.sources.actions.curating import PROGRAM, By, Curation
from apps.sources.models import AuditEntry, Source

READING = {"kind", "recipe"}  # columns that decide how documents are parsed


@transaction.atomic
def add_source(values: Mapping[str, object], *, now: datetime, by: By = PROGRAM) -> int:
    """Add a source, or edit the one at this address; raises BadAddress."""
    source_id = editing.add_source(Source(url=str(values["url"])))
    edit_source(source_id, now=now, by=by, **values)
    return source_id


@transaction.atomic
def edit_source(source_id: int, *, now: datetime, by: By = PROGRAM, **values: object) -> None:
    changed = editing.edit_source(source_id, by=by, **values)
    if "url" in changed:
        retrieval.forget_answers(source_id, now=now)
    elif changed & READING:
        retrieval.forget_validators(source_id)
    retrieval.adopt_sources([source_id], now=now)


@transaction.atomic
def set_state(source_id: int, state: Source.State, *, now: datetime, by: By = PROGRAM) -> None:
    editing.set_state([source_id], state, by=by)
    retrieval.adopt_sources([source_id], now=now)


@transaction.atomic
def curate_sources(source_ids: Collection[int], curation: Curation, *, now: datetime, by: By) -> list[int]:
    """Edit many sources; returns those that differ. They are rescheduled within a minute. Raises as `curate` does."""
    if curation.state is not None:
        retrieval.lock_sources(source_ids)  # in the order of workers: schedules before sources
    changed = curating.curate(source_ids, curation, by=by)
    if changed:
        retrieval.adopt_sources(changed, now=now)
    return changed


@transaction.atomic
def set_active(user_id: int, *, active: bool, by: By) -> bool:
    """Enable or disable an account; returns whether that changed it."""
    if not accounts.set_active(user_id, active=active):
        return False
    states = ("disabled", "active") if active else ("active", "disabled")
    # By number: a name would outlive the account.
    curating.note([curating.decision(AuditEntry.What.PERSON, *states, name=f"account {user_id}")], by)
    return True


class NotMergeable(ValueError):
    """Two sources cannot be merged."""


class Merged(NamedTuple):
    """The result of a merge."""

    followers: int  # of the kept source that are new
    moved: int  # postings
    joined: int  # postings that both had


def merge_sources(kept_id: int, merged_id: int, *, now: datetime, by: By = PROGRAM) -> Merged:
    """Merge a source into another: move followers, folders, marks and postings, redirect its address and delete it.

    Idempotent. Raises NotMergeable for unknown or equal sources and for index pages, which belong to their site.
    """
    merged = _merge(kept_id, merged_id, now, by)
    retrieval.replan([kept_id], now=now)
    return merged


@transaction.atomic
def _merge(kept_id: int, merged_id: int, now: datetime, by: By) -> Merged:
    if kept_id == merged_id:
        raise NotMergeable("A feed cannot be merged with itself.")
    retrieval.lock_sources([kept_id, merged_id])  # no worker can store anything of either from here on
    present = set(source_queries.everything().filter(pk__in=[kept_id, merged_id]).values_list("pk", flat=True))
    if kept_id not in present:
        raise NotMergeable("The feed to keep does not exist.")
    if merged_id not in present:
        return Merged(0, 0, 0)
    same = postings_queries.same_postings(merged_id, kept_id)
    followers = following.restoring.move_follows(merged_id, kept_id, same=same, now=now)
    following.restoring.move_own(same)
    moved = postings.move_postings(merged_id, kept_id, same=same)
    editing.absorb(kept_id, merged_id, by=by)
    retrieval.adopt_sources([kept_id], now=now)
    return Merged(followers, moved, len(same))
