"""The portal's Celery app, sending every message twice; `manage.py chaos` uses it with `-A`."""

import os
from typing import Any

import django
from celery import current_app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()  # makes the portal's Celery the current one
app = current_app._get_current_object()

_send_once = app.amqp.send_task_message


def _send_twice(producer: Any, name: str, message: Any, **options: Any) -> Any:
    _send_once(producer, name, message, **options)
    return _send_once(producer, name, message, **options)


app.amqp.send_task_message = _send_twice
