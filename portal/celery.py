"""Celery's app and its periodic tasks. Due times of sources are in `Schedule.due_at`."""

import os

from celery import Celery
from celery.schedules import crontab
from celery.signals import task_prerun
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
# Django's checks import all pages, which takes each process 0.7 s and 22 MB. `manage.py check` makes them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("wirebeat", task_cls="apps.jobs.actions.dead_letters:CountedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Each thread keeps its connection to Postgres, as in the web server. By default Celery closes it before and after each
# task, and a new one costs more CPU than most tasks.
app.conf["CELERY_DB_REUSE_MAX"] = 10**12  # tasks until Celery closes a connection
task_prerun.connect(close_old_connections)  # broken ones, and those older than five minutes


def _entry(task: str, schedule: float | crontab, *arguments: object, expires: int | None = None) -> dict[str, object]:
    """An entry of the schedule, in seconds or as crontab, for a task such as `search.consume`."""
    app_name, name = task.split(".")
    options = {"expires": expires} if expires else {}
    return {"task": f"apps.{app_name}.tasks.{name}", "schedule": schedule, "args": arguments, "options": options}


app.conf.beat_schedule = {
    # Corrects the schedules of new, followed, paused and deleted sources if the page's own call has failed.
    "adopt sources": _entry("retrieval.adopt_sources", 60.0),
    # Waiting pages of crawled sites and of teasers; sites that a worker crawls are skipped.
    "dispatch pages": _entry("retrieval.dispatch_pages", 5.0),
    # Icons of feeds; those without one are looked for again with back-off, the others each month.
    "find icons": _entry("retrieval.dispatch_icons", 5.0),
    "prune icons": _entry("retrieval.prune_icons", crontab(hour=4, minute=37)),
    # After changes of the plan and of the worth of sources; later runs replace a message that waited.
    "replan": _entry("retrieval.replan_changed", 20.0),
    # The price follows the actual retrievals of each hour of the sources' own time, which is short in a replay.
    "control the price": _entry("retrieval.control_price", 600.0),
    # Posting rates change slowly; at night most sources are quiet.
    "learn weekly profiles": _entry("retrieval.learn_profiles", crontab(hour=3, minute=17)),
    # Renews leases of hubs before they expire; sources without one are planned like others.
    "maintain subscriptions": _entry("websub.maintain_subscriptions", 60.0),
    # Deliveries of hubs whose message or worker was lost.
    "retry deliveries of hubs": _entry("websub.retry_deliveries", 20.0),
    "forget old deliveries": _entry("websub.forget_old_deliveries", crontab(hour=4, minute=41)),
    # New, edited and deleted postings are searchable within two seconds.
    "index changes": _entry("search.consume", 1.0),
    # Builds segments: postings outside of them are searched one by one.
    "maintain the index": _entry("search.maintain", 10.0),
    "learn how words are spelled": _entry("search.learn_spelling", crontab(hour="*/4", minute=17), expires=3600),
    "note postings that search missed": _entry("search.note_missed", crontab(hour=2, minute=29)),
    # Imported account data about postings that did not exist yet.
    "settle waiting marks": _entry("account_data.settle", 30.0),
    # Trends follow new postings within a minute or two; longer periods change more slowly.
    "count terms": _entry("trending.count", 30.0),
    "list trends": _entry("trending.refresh", 300.0, ["hour", "day"]),
    "list trends of the week": _entry("trending.refresh", crontab(minute=13), ["week"]),
    "list trends of the month and the year": _entry(
        "trending.refresh", crontab(hour="*/6", minute=37), ["month", "year"]
    ),
    "prune counts of terms": _entry("trending.prune", crontab(hour=3, minute=49)),
    # Summaries exist within seconds; until then pages make them on demand.
    "summarise": _entry("summaries.consume", 5.0),
    # Term frequencies change slowly.
    "count terms for summaries": _entry("summaries.count_terms", crontab(hour=3, minute=53)),
    # Reports of one event are grouped within seconds; only one worker groups at a time.
    "group into stories": _entry("stories.consume", 5.0),
    "label trends": _entry("stories.label_trends", 60.0),
    "learn tastes": _entry("stories.learn", 30.0),
    "maintain stories": _entry("stories.maintain", 3600.0),
    # The worth of a source for stories shows over weeks.
    "weigh sources": _entry("stories.weigh_sources", crontab(hour=3, minute=31)),
    # Notifies followers once when a source breaks, moves or recovers.
    "notify of feed health": _entry("feed_health.notify_followers", 300.0),
    "forget old notices": _entry("feed_health.forget_old", crontab(hour=5, minute=23)),
    # Recommendations: sources followed by the same users, rising ones, and those about what a user reads.
    "learn likenesses of sources": _entry(
        "recommendations.learn_likenesses", crontab(hour="*/6", minute=7), expires=3600
    ),
    "measure growth of sources": _entry("recommendations.measure_growth", crontab(minute=43), expires=3600),
    "match sources with users": _entry("recommendations.match", 600.0),
    # Alerts are sent within seconds.
    "match alerts": _entry("alerts.consume", 1.0),
    # Retries, and messages that a lost worker left.
    "retry deliveries of alerts": _entry("alerts.retry_deliveries", 5.0),
    "forget old messages": _entry("alerts.forget_old_messages", crontab(hour=5, minute=11)),
    # The rarest word of a search changes slowly.
    "prepare all searches": _entry("alerts.prepare_all", crontab(hour=1, minute=47, day_of_week=0)),
    # Notifies the hubs of our own feeds.
    "announce feeds": _entry("published_feeds.announce", 5.0),
    "forget unused feeds": _entry("published_feeds.forget_unused", crontab(hour=5, minute=41)),
    # Saved searches raise the worth of sources, whose topics change slowly.
    "weigh searches": _entry("alerts.weigh", 60.0),
    "weigh all searches": _entry("alerts.weigh_all", crontab(hour=2, minute=7)),
    "forget old hits": _entry("alerts.forget_old_hits", crontab(hour=4, minute=59)),
    # Replaces lost workers of jobs, and wakes free ones for open tasks.
    "advance jobs": _entry("jobs.advance", 5.0),
    "forget old jobs": _entry("jobs.forget_old", crontab(hour=4, minute=13)),
    "purge sessions": _entry("accounts.purge_sessions", crontab(hour=4, minute=31)),
    # The log of retrievals has a limited retention.
    "forget old retrievals": _entry("retrieval.forget_old_retrievals", 3600.0),
    # Rows of pages linked by teasers are useless once the page was fetched.
    "prune pages of feeds": _entry("retrieval.prune_feed_pages", crontab(hour=4, minute=33)),
    # Of sources with a limited retention.
    "forget expired postings": _entry("retrieval.forget_expired_postings", crontab(hour=4, minute=23)),
    # Undo is offered for a day.
    "forget undo": _entry("following.forget_undo", 3600.0),
    # Compacts marks of postings read one by one.
    "compact marks": _entry("following.advance_all", crontab(hour=3, minute=7)),
    # Expired documents, and files left by a crash.
    "tidy documents": _entry("documents.tidy_documents", 3600.0),
}
