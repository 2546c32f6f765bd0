"""Log formats: text, or one JSON object per line with request and task ids."""

import json
import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from copy import copy
from datetime import UTC, datetime
from typing import Any

from celery._state import get_current_task
from django.http import HttpRequest, HttpResponse
from gunicorn.glogging import Logger

from apps.database import counters
from portal import environment
from portal.redaction import redacted

FORMATS = ("text", "json")  # of WIREBEAT_LOG_FORMAT; the first is the default
HEADER = "X-Request-ID"
ACCEPTABLE = re.compile(r"[A-Za-z0-9._:+/=-]{1,100}")  # ids of proxies, without line breaks

_request_id: ContextVar[str] = ContextVar("request_id", default="")


class TextFormatter(logging.Formatter):
    """A record as text without secrets; a refused request is one line."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(_without_useless_trace(record)))


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, even if it cannot be formatted."""

    def format(self, record: logging.LogRecord) -> str:
        record = _without_useless_trace(record)
        values: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(_message(record)),
            "process": record.process,
        }
        if request_id := _request_id.get():
            values["request_id"] = request_id
        task = get_current_task()
        if task is not None and task.request.id:
            values |= {"task_id": task.request.id, "task": task.name}
        if record.exc_info:
            values["exception"] = redacted(self.formatException(record.exc_info))
        if record.stack_info:
            values["stack"] = redacted(self.formatStack(record.stack_info))
        return json.dumps(values, ensure_ascii=False)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # wrong arguments, or a failing __str__
        return f"{record.msg} (could not be written with its values: {error})"


def _without_useless_trace(record: logging.LogRecord) -> logging.LogRecord:
    """A record that a request was refused as invalid, as one line without traceback: the code is not at fault.

    The request may contain line breaks.
    """
    if not 400 <= getattr(record, "status_code", 0) < 500:
        return record
    line = copy(record)
    line.msg, line.args = re.sub(r"[\r\n]+", " ", _message(record)), None
    line.exc_info = line.exc_text = line.stack_info = None
    return line


def is_of_ours(record: logging.LogRecord) -> bool:
    """False for pictures and recordings that publishers fail to deliver: frequent, and no fault of the portal."""
    request = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    return getattr(match, "url_name", None) not in {"image", "recording"} or getattr(record, "status_code", 500) != 502


class WebLog(Logger):
    """Gunicorn's own log in the same format: it creates its handlers before settings are read."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        as_objects = environment.choice("WIREBEAT_LOG_FORMAT", *FORMATS) == "json"
        for handler in (*self.error_log.handlers, *self.access_log.handlers):
            form = handler.formatter or logging.Formatter()
            handler.setFormatter(JsonFormatter() if as_objects else TextFormatter(form._fmt, form.datefmt))


def with_request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: puts the request's id, from a proxy or new, into its log lines and the response, and counts it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        request_id = given if ACCEPTABLE.fullmatch(given) else uuid.uuid4().hex
        token = _request_id.set(request_id)
        begun = time.perf_counter()
        try:
            response = get_response(request)
        finally:
            _request_id.reset(token)
        if (match := request.resolver_match) is not None:  # None for files and unknown addresses
            labels = (match.view_name or "unnamed", f"{response.status_code // 100}xx")
            counters.observe("http_request_seconds", labels, time.perf_counter() - begun)
        response.headers[HEADER] = request_id
        return response

    return middleware
