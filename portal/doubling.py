"""The portal's Celery, but it delivers every message twice: what `manage.py chaos` runs, with `-A portal.doubling`."""

from typing import Any

from portal.celery import app

_send_once = app.amqp.send_task_message


def _send_twice(producer: Any, name: str, message: Any, **options: Any) -> Any:
    _send_once(producer, name, message, **options)
    return _send_once(producer, name, message, **options)


app.amqp.send_task_message = _send_twice
