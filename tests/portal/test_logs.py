"""Log lines for machines: always one object a line, with the ids of what they belong to."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery import shared_task
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.log import log_response
from gunicorn.config import Config
from hypothesis import given
from hypothesis import strategies as st

from portal import logs

ROOT = Path(__file__).resolve().parents[2]
SETUP = """
import logging, django
from portal.celery import app
django.setup()
app.log.setup(loglevel="INFO")
logging.getLogger("celery.worker").info("a worker's line")
logging.getLogger("apps.sources").info("a line\\nof the portal's %s", "ö")
"""


def formatted(message, *values, **options):
    record = logging.LogRecord(
        "apps.test", logging.WARNING, __file__, 1, message, values, options.pop("exc_info", None)
    )
    line = logs.JsonFormatter().format(record)
    assert "\n" not in line
    return json.loads(line)


@shared_task
def say():
    return formatted("in a task")


@given(st.text(), st.lists(st.one_of(st.text(), st.integers(), st.binary(), st.floats())))
def test_whatever_is_logged_is_one_object_a_line(message, values):
    found = formatted(message, *values)
    assert isinstance(found["message"], str)
    assert {"time", "level", "logger", "message", "process"} == set(found)


def test_a_line_says_when_who_and_what():
    found = formatted("%d of %s", 3, "ü\n")
    assert found["message"] == "3 of ü\n"
    assert (found["level"], found["logger"], found["process"]) == ("WARNING", "apps.test", os.getpid())
    assert found["time"].endswith("+00:00")


def test_an_exception_is_in_the_same_line():
    try:
        raise ValueError("no news")
    except ValueError:
        found = formatted("failed", exc_info=sys.exc_info())
    assert found["exception"].endswith("ValueError: no news")
    assert "Traceback" in found["exception"]


def test_a_worker_s_lines_name_their_task():
    result = say.apply()
    found = result.get()
    assert found["task_id"] == result.id
    assert found["task"].endswith("say")
    assert "task_id" not in formatted("outside")


@pytest.mark.parametrize("given", ["abc-1", "4bf92f3577b34da6a3ce929d0e0e4736", "Root=1-67891233-abcdef"])
def test_a_request_keeps_the_id_that_a_proxy_gave_it(client, given):
    assert client.get("/health/live", headers={"X-Request-ID": given})["X-Request-ID"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 101, 'quote"', "é"])
def test_other_requests_get_an_id_of_their_own(client, given):
    ids = [client.get("/health/live", headers={"X-Request-ID": given})["X-Request-ID"] for _ in range(2)]
    assert ids[0] != ids[1]
    assert all(len(each) == 32 and each != given for each in ids)


def test_the_lines_of_a_request_have_its_id_and_later_ones_have_none():
    lines = []

    def answer(request):
        lines.append(formatted("within"))
        return SimpleNamespace(headers={})

    request = SimpleNamespace(headers={"X-Request-ID": "abc-1"}, resolver_match=None)
    assert logs.with_request_id(answer)(request).headers == {"X-Request-ID": "abc-1"}
    assert lines[0]["request_id"] == "abc-1"
    assert "request_id" not in formatted("after")


def test_the_settings_make_workers_and_the_portal_write_objects():
    environment = os.environ | {"WIREBEAT_LOG_FORMAT": "json", "WIREBEAT_LOG_LEVEL": "INFO"}
    done = subprocess.run([sys.executable, "-c", SETUP], cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = [json.loads(line)["message"] for line in done.stderr.splitlines()]
    assert lines == ["a worker's line", "a line\nof the portal's ö"]


@pytest.mark.parametrize(("format", "as_objects"), [("json", True), ("text", False)])
def test_gunicorn_speaks_the_same_language(monkeypatch, capfd, format, as_objects):
    monkeypatch.setenv("WIREBEAT_LOG_FORMAT", format)
    log = logs.WebLog(Config())
    log.info("listening")
    line = capfd.readouterr().err.splitlines()[-1]
    assert line.startswith("{") == as_objects
    assert "listening" in line
    for logger in (log.error_log, log.access_log):
        logger.handlers.clear()


@pytest.mark.parametrize(
    ("name", "status", "logged"), [("image", 502, False), ("image", 500, True), ("river", 502, True)]
)
def test_pictures_that_publishers_fail_to_deliver_are_not_logged_as_errors(caplog, name, status, logged):
    request = RequestFactory().get("/")
    request.resolver_match = SimpleNamespace(url_name=name)
    log_response("%s: %s", "Bad Gateway", "/", response=HttpResponse(status=status), request=request)
    assert bool(caplog.records) == logged
