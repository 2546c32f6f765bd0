"""Doorways for Celery: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.alerts import actions, queries
from apps.alerts.actions import delivering, enqueuing

MAX_PULL_SECONDS = 20.0  # s; what is left then is the next message's


@shared_task
def consume(**_: Any) -> None:
    """Lay out searches, then match postings: a search that was saved before a posting came will find it."""
    until = time.monotonic() + MAX_PULL_SECONDS
    while time.monotonic() < until:
        prepared = actions.prepare(wait=False)
        matched = actions.match(wait=False, now=now())
        if prepared is None or matched is None:
            return
        if prepared.looked_at < actions.PREPARED_AT_ONCE and matched.looked_at < actions.MATCHED_AT_ONCE:
            return


@shared_task
def prepare_all_anew(**_: Any) -> None:
    actions.prepare_all_anew()


@shared_task
def forget_old_hits(**_: Any) -> None:
    actions.forget_old_hits(now=now())


@shared_task
def deliver(message_id: int, **_: Any) -> None:
    delivering.deliver(message_id, now=now())


@shared_task
def deliver_rest(**_: Any) -> None:
    enqueuing.hand_out(now=now())


@shared_task
def forget_old_messages(**_: Any) -> None:
    delivering.forget_old(now=now())


@shared_task
def weigh(**_: Any) -> None:
    """Let what people search for say what sources are worth, within a minute of its change."""
    actions.profile_sources(queries.interest.unread_sources(now(), actions.PROFILED_AT_ONCE), now=now())
    while actions.weigh():
        pass
    actions.raise_interests()


@shared_task
def weigh_all_anew(**_: Any) -> None:
    actions.weigh_all_anew(now=now())
