"""Celery with queues that no other test uses at the same time, though all share one broker."""

import os

from celery import Celery
from django.conf import settings

from apps.retrieval.scheduler.queues import all_queues
from portal.brokers import celery_settings


def app_with(queues: int) -> Celery:
    """An app whose keys in the broker are of this process of tests alone; its queues are empty."""
    app = Celery("queues", set_as_current=False)
    app.conf.update(celery_settings(settings.CELERY_BROKER_URL, all_queues(queues)))
    app.conf.broker_url = settings.CELERY_BROKER_URL
    prefix = f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}:"
    app.conf.broker_transport_options = (app.conf.broker_transport_options or {}) | {"global_keyprefix": prefix}
    with app.connection_for_write() as broker:
        for name in all_queues(queues):
            app.amqp.queues[name].bind(broker.default_channel).purge()
    return app
