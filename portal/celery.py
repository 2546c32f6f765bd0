"""Celery's app and the few fixed jobs of its clock. When each source is asked stands in `Schedule.due_at`."""

import os

from celery import Celery
from celery.schedules import crontab
from celery.signals import task_prerun
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

app = Celery("wirebeat", task_cls="apps.jobs.actions.dead_letters:CountedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Each thread keeps its connection to Postgres, as in the web server. Celery by itself closes it before and after each
# task, and a new one costs more CPU than most tasks.
app.conf["CELERY_DB_REUSE_MAX"] = 10**12  # tasks until a connection is closed by Celery
task_prerun.connect(close_old_connections)  # unusable ones, and those of five minutes
app.conf.beat_schedule = {
    # New, followed, paused and deleted sources get or lose their schedule here, should the page's own call have failed.
    "adopt sources": {"task": "apps.retrieval.tasks.adopt_sources", "schedule": 60.0},
    # Pages of sites and of teasers that wait; a crawl that a worker is at work on is left to it.
    "dispatch pages": {"task": "apps.retrieval.tasks.dispatch_pages", "schedule": 5.0},
    # Instants follow changes of the plan and of what sources are worth; a message that waited is overtaken by the next.
    "replan": {"task": "apps.retrieval.tasks.replan_changed", "schedule": 20.0},
    # The price follows what was really asked, each hour of the sources' own time; that of a replay is short.
    "control the price": {"task": "apps.retrieval.tasks.control_price", "schedule": 600.0},
    # When sources publish changes slowly; most of them sleep now.
    "learn habits": {"task": "apps.retrieval.tasks.learn_profiles", "schedule": crontab(hour=3, minute=17)},
    # Hubs are asked to send us news, anew before their promises end; else sources are planned like others again.
    "maintain subscriptions": {
        "task": "apps.websub.tasks.maintain_subscriptions",
        "schedule": 60.0,
    },
    # What hubs sent is worked on at once, unless a message or its worker was lost.
    "work on rest": {"task": "apps.websub.tasks.work_on_rest", "schedule": 20.0},
    "forget old deliveries": {
        "task": "apps.websub.tasks.forget_old_deliveries",
        "schedule": crontab(hour=4, minute=41),
    },
    # What was published, edited or deleted can be found within two seconds.
    "pull into search": {"task": "apps.search.tasks.consume", "schedule": 1.0},
    # The newest postings are searched one by one until they are sealed; there should be few of them.
    "maintain the index": {"task": "apps.search.tasks.maintain", "schedule": 10.0},
    "learn how words are spelled": {
        "task": "apps.search.tasks.learn_spelling",
        "schedule": crontab(hour="*/4", minute=17),
        "options": {"expires": 3600},
    },
    "look for what search missed": {"task": "apps.search.tasks.note_missed", "schedule": crontab(hour=2, minute=29)},
    # What somebody brought along of postings that were not here is done when they come.
    "settle what waits": {"task": "apps.account_data.tasks.settle", "schedule": 30.0},
    # Trends follow what is published within a minute or two; the longer they look back, the slower they change.
    "count terms": {"task": "apps.trending.tasks.count", "schedule": 30.0},
    "list trends": {
        "task": "apps.trending.tasks.refresh",
        "args": (["hour", "day"],),
        "schedule": 300.0,
    },
    "list trends of the week": {
        "task": "apps.trending.tasks.refresh",
        "args": (["week"],),
        "schedule": crontab(minute=13),
    },
    "list trends of the month and the year": {
        "task": "apps.trending.tasks.refresh",
        "args": (["month", "year"],),
        "schedule": crontab(hour="*/6", minute=37),
    },
    "prune counts of terms": {"task": "apps.trending.tasks.prune", "schedule": crontab(hour=3, minute=49)},
    # Articles get their summaries within seconds; until then they are made when somebody looks.
    "summarise": {"task": "apps.summaries.tasks.consume", "schedule": 5.0},
    # How common words are changes slowly.
    "count terms for summaries": {"task": "apps.summaries.tasks.count_terms", "schedule": crontab(hour=3, minute=53)},
    # Reports of one event are together within seconds; whoever is at it is not disturbed.
    "pull into stories": {"task": "apps.stories.tasks.consume", "schedule": 5.0},
    "learn tastes": {"task": "apps.stories.tasks.learn", "schedule": 30.0},
    "maintain stories": {"task": "apps.stories.tasks.maintain", "schedule": 3600.0},
    # What a source is worth to stories shows over weeks.
    "weigh sources": {"task": "apps.stories.tasks.weigh_sources", "schedule": crontab(hour=3, minute=31)},
    # Who follows a source that broke, moved or is well again is told of it, once.
    "look after the health of feeds": {
        "task": "apps.feed_health.tasks.look",
        "schedule": 300.0,
    },
    "forget old notices": {"task": "apps.feed_health.tasks.forget_old", "schedule": crontab(hour=5, minute=23)},
    # What is recommended: sources that the same people follow, that rise, and that write about what somebody reads.
    "learn which sources go together": {
        "task": "apps.recommendations.tasks.learn_likenesses",
        "schedule": crontab(hour="*/6", minute=7),
        "options": {"expires": 3600},
    },
    "measure growth of sources": {
        "task": "apps.recommendations.tasks.measure_growth",
        "schedule": crontab(minute=43),
        "options": {"expires": 3600},
    },
    "match sources with people": {
        "task": "apps.recommendations.tasks.match",
        "schedule": 600.0,
    },
    # Who waits for something hears of it within seconds.
    "pull into alerts": {"task": "apps.alerts.tasks.consume", "schedule": 1.0},
    # Messages are sent at once when they are due at once; here those that waited, and what was left behind.
    "deliver the rest": {"task": "apps.alerts.tasks.deliver_rest", "schedule": 5.0},
    "forget old messages": {"task": "apps.alerts.tasks.forget_old_messages", "schedule": crontab(hour=5, minute=11)},
    # Which of a search's words is the rarest changes slowly.
    "prepare searches anew": {
        "task": "apps.alerts.tasks.prepare_all_anew",
        "schedule": crontab(hour=1, minute=47, day_of_week=0),
    },
    # Hubs hear of what is new in our feeds, should there be any hub.
    "announce feeds": {"task": "apps.published_feeds.tasks.announce", "schedule": 5.0},
    "forget feeds nobody asks for": {
        "task": "apps.published_feeds.tasks.forget_unasked",
        "schedule": crontab(hour=5, minute=41),
    },
    # What people search for says what sources are worth to them; what these write about changes slowly.
    "weigh searches": {"task": "apps.alerts.tasks.weigh", "schedule": 60.0},
    "weigh all searches anew": {"task": "apps.alerts.tasks.weigh_all_anew", "schedule": crontab(hour=2, minute=7)},
    "forget old hits": {"task": "apps.alerts.tasks.forget_old_hits", "schedule": crontab(hour=4, minute=59)},
    # Long work goes on: lost workers are replaced, and those that are free are woken for what is open.
    "advance jobs": {"task": "apps.jobs.tasks.advance", "schedule": 5.0},
    "forget old jobs": {"task": "apps.jobs.tasks.forget_old", "schedule": crontab(hour=4, minute=13)},
    "purge sessions": {"task": "apps.accounts.tasks.purge_sessions", "schedule": crontab(hour=4, minute=31)},
    # The log of retrievals is for people and statistics; it may not grow for ever.
    "forget old retrievals": {"task": "apps.retrieval.tasks.forget_old_retrievals", "schedule": 3600.0},
    # The row of a page that a teaser led to is of no use once the page was fetched.
    "prune pages of feeds": {"task": "apps.retrieval.tasks.prune_feed_pages", "schedule": crontab(hour=4, minute=33)},
    # Some sources are only kept for as long as an admin says.
    "forget expired postings": {
        "task": "apps.retrieval.tasks.forget_expired_postings",
        "schedule": crontab(hour=4, minute=23),
    },
    # What a day later nobody undoes any more.
    "forget undo": {"task": "apps.following.tasks.forget_undo", "schedule": 3600.0},
    # What people have read one by one is said with fewer words.
    "advance what was read": {"task": "apps.following.tasks.advance_all", "schedule": crontab(hour=3, minute=7)},
    # Neither may kept documents, nor the files that a crash has left beside them.
    "tidy documents": {"task": "apps.documents.tasks.tidy_documents", "schedule": 3600.0},
}
