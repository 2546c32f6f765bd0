"""What people do that concerns more than one app. Each is one transaction, but for what asks other sites."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts import actions as accounts
from apps.following import actions as following
from apps.postings import actions as postings
from apps.postings import queries as postings_queries
from apps.retrieval import actions as retrieval
from apps.retrieval import queries as retrieval_queries
from apps.sources import actions as sources
from apps.sources import queries as source_queries
from apps.sources.models import AuditEntry, Source

MAX_ASKED = 200  # sources at once, each under a lock of its own
READING = {"kind", "recipe"}  # what decides how the documents of a source are read


@transaction.atomic
def add_source(values: Mapping[str, object], *, now: datetime, by: sources.By = sources.PROGRAM) -> int:
    """Add a source as staff describe it; one that exists already becomes what they say.

    Raises
    ------
    BadAddress
        If its address cannot be meant.
    """
    source_id = sources.add_source(sources.NewSource(url=str(values["url"])))
    edit_source(source_id, now=now, by=by, **values)
    return source_id


@transaction.atomic
def edit_source(source_id: int, *, now: datetime, by: sources.By = sources.PROGRAM, **values: object) -> None:
    changed = sources.edit_source(source_id, by=by, **values)
    if "url" in changed:
        retrieval.forget_answers(source_id, now=now)
    elif changed & READING:
        retrieval.read_anew(source_id)
    retrieval.adopt_sources([source_id], now=now)


@transaction.atomic
def set_state(source_id: int, state: Source.State, *, now: datetime, by: sources.By = sources.PROGRAM) -> None:
    sources.set_state([source_id], state, by=by)
    retrieval.adopt_sources([source_id], now=now)


@transaction.atomic
def curate_sources(
    source_ids: Collection[int], wish: sources.Curation, *, now: datetime, by: sources.By
) -> sources.Curated:
    """Change what is wished of many sources; their instants follow what they are worth within a minute.

    Raises
    ------
    TooMany
        If they are more than may be changed at once.
    ValueError
        If a weight is none.
    """
    if wish.state is not None:
        retrieval.lock_sources(source_ids)  # workers lock schedules before sources, and so must we
    curated = sources.curate(source_ids, wish, by=by)
    if curated.changed:
        retrieval.adopt_sources(curated.changed, now=now)
    return curated


@transaction.atomic
def set_active(user_id: int, *, active: bool, by: sources.By) -> bool:
    """Let a person sign in, or not; whether that was otherwise."""
    if not accounts.set_active(user_id, active=active):
        return False
    states = ("disabled", "active") if active else ("active", "disabled")
    # By number: a name would outlive the account.
    sources.note([sources.Noted(AuditEntry.What.PERSON, *states, name=f"account {user_id}")], by)
    return True


@transaction.atomic
def ask_many(source_ids: Collection[int], *, now: datetime) -> tuple[int, int]:
    """Ask sources now, or as soon as politeness allows; how many of each.

    Raises
    ------
    TooMany
        If they are more than MOST_ASKED.
    """
    if len(source_ids) > MAX_ASKED:
        raise sources.TooMany(f"At most {MAX_ASKED} feeds can be checked at once, not {len(source_ids):,}.")
    asked = [retrieval.ask_soon(source_id, now=now) for source_id in retrieval_queries.scheduled(source_ids)]
    return sum(each.granted for each in asked), sum(not each.granted for each in asked)


class NotMergeable(ValueError):
    """Two sources cannot become one; the message says why."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did."""

    followers: int  # who follow the kept source anew
    moved: int  # postings
    joined: int  # postings that both had


def merge_sources(kept_id: int, merged_id: int, *, now: datetime, by: sources.By = sources.PROGRAM) -> Merged:
    """Let one source take the place of another one: its followers, folders, marks and postings move, its address leads
    to the kept source, and it is deleted. Does nothing where that was done before.

    Raises
    ------
    NotMergeable
        If there is no such source, it is the same one, or an index page, which belongs to its site.
    """
    merged = _merge(kept_id, merged_id, now, by)
    retrieval.replan([kept_id], now=now)
    return merged


@transaction.atomic
def _merge(kept_id: int, merged_id: int, now: datetime, by: sources.By) -> Merged:
    if kept_id == merged_id:
        raise NotMergeable("A feed cannot be merged with itself.")
    retrieval.lock_sources([kept_id, merged_id])  # from here on no worker stores anything of either
    present = set(source_queries.everything().filter(pk__in=[kept_id, merged_id]).values_list("pk", flat=True))
    if kept_id not in present:
        raise NotMergeable("The feed to keep does not exist.")
    if merged_id not in present:
        return Merged(0, 0, 0)
    same = postings_queries.same_postings(merged_id, kept_id)
    followers = following.move_follows(merged_id, kept_id, same=same, now=now)
    following.move_own(same)
    moved = postings.move_postings(merged_id, kept_id, same=same)
    sources.absorb(kept_id, merged_id, by=by)
    retrieval.adopt_sources([kept_id], now=now)
    return Merged(followers, moved, len(same))
