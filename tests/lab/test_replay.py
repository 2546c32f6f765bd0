"""Replay: from the commands' side, with the portal's database."""

import json
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command

from apps.postings.models import Posting
from apps.retrieval.http import guard
from apps.retrieval.models import Schedule
from apps.search.models import SavedSearch
from apps.sources.algorithms.addresses import resolve
from apps.sources.models import Source
from lab.chaos.workload import QUERIES
from lab.worlds.lines import Published, Request
from lab.worlds.record import RecordFile, read_record
from tests.builders import a_posting

with socket.socket() as free:  # another one in each process of the tests
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]

pytestmark = pytest.mark.django_db


@pytest.fixture
def record(tmp_path):
    return tmp_path / "record"


def replay(record, *more):
    call_command("replay", "--synthetic=3", "--speed=3600", f"--port={PORT}", f"--record={record}", "--for=0", *more)


def serve_everything(record):
    """Add a request for the whole of every feed to the record, as of a client."""
    published = [line for line in read_record(record) if isinstance(line, Published)]
    writer = RecordFile(record)
    at = datetime.now(UTC).timestamp()
    for source in {line.source for line in published}:
        count = sum(line.source == source for line in published)
        writer(Request(at, source, "feed", "GET", "/feed", 200, 0, count, etag='"a"'))
    writer.close()
    return published


def store(line, *, seconds=60):
    source = Source.objects.get(url=f"http://s{line.source}.replay.localhost:{PORT}/feed")
    a_posting(source, guid=line.guid, url=line.link, retrieved_at=datetime.now(UTC) + timedelta(seconds=seconds))


def test_replayed_feeds_become_sources_that_are_due(record):
    replay(record)
    sources = Source.objects.order_by("url")
    assert [source.url for source in sources] == [
        f"http://s{number}.replay.localhost:{PORT}/feed" for number in (1, 2, 3)
    ]
    assert {(source.clock_rate, source.min_gap, source.listed) for source in sources} == {(3600.0, None, True)}
    assert Schedule.objects.filter(due_at__isnull=False).count() == 3


def test_a_later_replay_at_the_same_addresses_resets_speed_and_gap(record, tmp_path):
    replay(record)
    call_command(
        "replay", "--synthetic=3", "--speed=60", f"--port={PORT}", "--for=0", "--retrieve-every=900",
        f"--record={tmp_path / 'other'}",
    )  # fmt: skip
    assert {(source.clock_rate, source.min_gap) for source in Source.objects.all()} == {(60.0, 900)}


def test_no_add_adds_no_sources(record):
    replay(record, "--no-add")
    assert not Source.objects.exists()


def test_a_record_is_continued_by_the_same_replay_only(record):
    replay(record)
    before = list(read_record(record))
    replay(record)
    after = list(read_record(record))
    assert after[: len(before)] == before
    assert len({(line.source, line.posting) for line in after[1:]}) == len(after) - 1
    with pytest.raises(CommandError, match="--seed 1"):
        replay(record, "--seed=2")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--synthetic=3", "--speed=0"], "--speed must be more than 0"),
        (["--items=nowhere.jsonl"], "belong together"),
        (["--items=nowhere.jsonl", "--sources=nowhere.csv"], "nowhere.csv"),
        (["--synthetic=3", "--faults=2", "--port=8792"], "share of faulty sources"),
    ],
)
def test_bad_options_are_explained(arguments, complaint):
    with pytest.raises(CommandError, match=complaint):
        call_command("replay", *arguments, "--for=0")


def test_the_witness_is_content_when_everything_served_is_stored_once(record, tmp_path, capsys):
    replay(record)
    for line in serve_everything(record):
        store(line)
    call_command("verify_replay", f"--record={record}", f"--json={tmp_path / 'result'}")
    assert "Every posting served is stored once" in capsys.readouterr().out
    result = json.loads((tmp_path / "result").read_text())
    assert result["passed"]
    assert result["served"] == result["stored"] == result["published"] > 0
    assert result["client"]["requests"] == len({line.source for line in serve_everything(record)})


def test_the_witness_complains_of_a_lost_and_of_a_doubled_posting(record, tmp_path):
    replay(record)
    published = serve_everything(record)
    for line in [*published[1:], published[-1]]:
        store(line)
    with pytest.raises(CommandError, match="lost or doubled"):
        call_command("verify_replay", f"--record={record}", f"--json={tmp_path / 'result'}")
    result = json.loads((tmp_path / "result").read_text())
    assert (result["lost"], result["doubled"]) == ([published[0].link], [published[-1].link])


def test_postings_of_an_earlier_replay_are_none_of_its_business(record):
    replay(record)
    for line in serve_everything(record):
        store(line)
    a_posting(Source.objects.first(), guid="old", retrieved_at=datetime.now(UTC) - timedelta(days=1))
    call_command("verify_replay", f"--record={record}")
    assert Posting.objects.filter(guid="old").exists()


def test_a_missing_record_is_named(tmp_path):
    with pytest.raises(CommandError, match="nowhere"):
        call_command("verify_replay", f"--record={tmp_path / 'nowhere'}")


def test_postings_of_a_recording_are_stored_once_and_in_order(record, tmp_path):
    replay(record, "--no-add")
    published = serve_everything(record)
    call_command("replay_serially", record=record)
    assert Posting.objects.count() == len(published) == len({line.link for line in published})
    call_command("verify_replay", f"--record={record}", f"--json={tmp_path / 'result'}")
    assert json.loads((tmp_path / "result").read_text())["passed"]
    assert set(SavedSearch.objects.values_list("query", flat=True)) == set(QUERIES)


def test_a_running_replay_is_reachable_from_other_processes_and_not_for_long_after_it_was_killed(settings):
    address = f"http://s1.replay.localhost:{PORT}/feed"
    command = [sys.executable, "manage.py", "replay", "--synthetic=1", "--no-add", f"--port={PORT}"]
    surroundings = os.environ | {"WIREBEAT_NO_VENV": "1", "CACHE_URL": settings.CACHES["default"]["LOCATION"]}
    running = subprocess.Popen(command, cwd=settings.BASE_DIR, env=surroundings, stdout=subprocess.DEVNULL)
    try:
        while not guard.configured().opens(resolve(address)):
            assert running.poll() is None
            time.sleep(0.05)
    finally:
        running.kill()
        running.wait()
    left = cache._cache.get_client().ttl(cache.make_key(guard.lease_key(PORT)))
    assert 0 < left <= guard.LEASE_SECONDS
    cache.delete(guard.lease_key(PORT))
    guard._seen.clear()
