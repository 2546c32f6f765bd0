"""One message of a periodic task at most is outstanding, and a lost one does not stop the task."""

import time
from contextlib import suppress
from uuid import uuid4

import pytest
from celery import current_app
from django.core.cache import cache

from apps.jobs.actions import outstanding
from apps.jobs.actions.dead_letters import CountedTask


@pytest.fixture
def task():
    """A task that notes its calls and whether a further message may be sent meanwhile."""
    calls = []

    @current_app.task(base=CountedTask, name=f"noted-{uuid4().hex}")
    def noted(name, seconds=0.0, fail=False):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.02)
        calls.append(outstanding.reserve(name, "another"))
        if fail:
            raise ValueError(name)

    noted.calls = calls
    yield noted
    current_app.tasks.unregister(noted.name)


@pytest.fixture
def job() -> str:
    """A name that no other test has reserved."""
    return f"job {uuid4().hex}"


def deliver(task, name, token, *args):
    task.push_request(id=token, outstanding=[name, token])
    try:
        return task(name, *args)
    finally:
        task.pop_request()


def test_a_second_message_may_go_when_the_first_is_done(task, job):
    assert outstanding.reserve(job, "one")
    assert not outstanding.reserve(job, "two")
    deliver(task, job, "one")
    assert task.calls == [False]  # not while it ran
    assert outstanding.reserve(job, "two")


def test_a_task_that_fails_releases_its_name(task, job):
    assert outstanding.reserve(job, "one")
    with suppress(ValueError):
        deliver(task, job, "one", 0.0, True)
    assert task.calls
    assert outstanding.reserve(job, "two")


def test_names_do_not_hinder_each_other(job):
    assert outstanding.reserve(job, "one")
    assert outstanding.reserve(f"{job} too", "one")


def test_a_lost_message_stops_its_task_only_until_it_expires(task, monkeypatch, job):
    monkeypatch.setattr(outstanding, "EXPIRE_SECONDS", 1)
    assert outstanding.reserve(job, "lost")
    until = time.monotonic() + 30
    while not outstanding.reserve(job, "next"):
        assert time.monotonic() < until
        time.sleep(0.05)
    deliver(task, job, "lost")  # it was only late: the next one does its work
    assert task.calls == []
    assert outstanding.is_reserved(job, "next")


def test_a_task_that_runs_for_longer_keeps_its_name(task, monkeypatch, job):
    monkeypatch.setattr(outstanding, "EXPIRE_SECONDS", 1)
    monkeypatch.setattr(outstanding, "RENEW_SECONDS", 0.1)
    assert outstanding.reserve(job, "one")
    deliver(task, job, "one", 2.5)
    assert task.calls == [False]


def test_without_a_cache_messages_are_sent_and_done(task, settings, job):
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
    cache.close()
    assert outstanding.reserve(job, "one")
    deliver(task, job, "one")
    assert len(task.calls) == 1


def test_a_task_is_enqueued_once_for_each_name(task, monkeypatch, job):
    sent = []
    monkeypatch.setattr(task, "apply_async", lambda args, **options: sent.append((args, options["headers"])))
    assert [outstanding.send(task, name, "word") for name in (job, job, f"{job} too")] == [True, False, True]
    assert [(args, headers["outstanding"][0]) for args, headers in sent] == [
        (("word",), job),
        (("word",), f"{job} too"),
    ]
