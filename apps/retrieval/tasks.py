"""Celery tasks; each calls one action."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_ready, worker_shutdown
from django.conf import settings
from django.db import connection

from apps.database.clock import DatabaseClock
from apps.database.time_limits import within
from apps.jobs.actions import outstanding
from apps.jobs.actions.periodic import task_of
from apps.retrieval import actions, queries
from apps.retrieval.actions import following
from apps.retrieval.scheduler.claims import Claim
from apps.retrieval.scheduler.queues import queue_of, retrieval_queues
from apps.retrieval.worker import engine
from apps.sources import actions as sources_actions

MAX_CRAWL_SECONDS = 60.0  # of one source at a time
MAX_ICON_SECONDS = 30.0


@shared_task(bind=True)
def retrieve(self: Task, claims: Sequence[Sequence[Any]], *, first: bool = False, **_: Any) -> None:
    engine.current().submit([Claim(*claim) for claim in claims], worker=self.request.hostname or "", first=first)


@shared_task
def dispatch_pages(**_: Any) -> None:
    for source_id, partition in queries.due_crawls(datetime.now(UTC), settings.RETRIEVAL_CRAWLS):
        queue = queue_of(partition or 0, settings.RETRIEVAL_QUEUES)
        outstanding.send(fetch_pages, f"pages of {source_id}", source_id, queue=queue)


@shared_task
def fetch_pages(source_id: int, **_: Any) -> None:
    may_go_on = within(MAX_CRAWL_SECONDS)
    while may_go_on() and engine.current().fetch_batch(source_id):
        pass


@shared_task
def dispatch_icons(**_: Any) -> None:
    for queue in _due_icons():
        outstanding.send(find_icons, f"icons of {queue}", queue, queue=queue)


@shared_task
def find_icons(queue: str, **_: Any) -> None:
    """Search for due icons of the queue's partitions; round by round, so that a site with many delays no others."""
    may_go_on = within(MAX_ICON_SECONDS)
    while may_go_on() and engine.current().find_icons(_due_icons()[queue]):
        pass


def _due_icons() -> defaultdict[str, list[int]]:
    by_queue: defaultdict[str, list[int]] = defaultdict(list)
    for partition, source_ids in queries.due_icons(datetime.now(UTC)):
        by_queue[queue_of(partition, settings.RETRIEVAL_QUEUES)] += source_ids
    return by_queue


@shared_task
def control_price(**_: Any) -> None:
    actions.learn_if_due(now=datetime.now(UTC))
    actions.control_price(now=datetime.now(UTC))


adopt_sources = task_of("apps.retrieval.tasks.adopt_sources", actions.adopt_sources)
replan_changed = task_of("apps.retrieval.tasks.replan_changed", actions.replan_changed)
backtest = task_of("apps.retrieval.tasks.backtest", actions.backtest)
sync_lists = task_of("apps.retrieval.tasks.sync_lists", following.sync_lists)
learn_profiles = task_of("apps.retrieval.tasks.learn_profiles", actions.learn_profiles)
forget_old_retrievals = task_of("apps.retrieval.tasks.forget_old_retrievals", actions.forget_old_retrievals)
prune_icons = task_of("apps.retrieval.tasks.prune_icons", sources_actions.icons.prune_icons, timed=False)
prune_feed_pages = task_of("apps.retrieval.tasks.prune_feed_pages", actions.prune_feed_pages)
forget_expired_postings = task_of("apps.retrieval.tasks.forget_expired_postings", actions.forget_expired)


@worker_ready.connect
def get_ready(sender: Any, **_: Any) -> None:
    """Release what a killed worker of this name had begun, and send heartbeats if the worker retrieves."""
    engine.with_retries(lambda: actions.release_worker(sender.hostname, now=DatabaseClock().now()))
    if not set(retrieval_queues(settings.RETRIEVAL_QUEUES)).isdisjoint(sender.app.amqp.queues.consume_from):
        engine.current().send_heartbeats(sender.hostname)
    connection.close()  # this thread needs none until the worker ends


@worker_shutdown.connect
def stop_retrieving(sender: Any, **_: Any) -> None:
    if engine.stop():
        actions.release_worker(sender.hostname, now=DatabaseClock().now(), graceful=True)
