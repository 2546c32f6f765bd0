"""Replay: what feeds published before is stored, so that their profiles are known when the recording begins."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command

from apps.postings.models import Posting
from lab.worlds.actions import store_history
from lab.worlds.addresses import Addresses
from lab.worlds.feed import make_feed
from lab.worlds.lines import Published, Request, Start
from lab.worlds.record import RecordFile
from lab.worlds.timeline import Timeline
from tests.builders import NOON, a_posting, a_source

pytestmark = pytest.mark.django_db
SPEED = 60.0


def history_of(hours: int):
    """A feed that published every hour before noon and goes on, replayed an hour a minute."""
    feed = make_feed(4, [(NOON + timedelta(hours=hour), f"Hour {hour}") for hour in range(-hours, 5)])
    timeline = Timeline(NOON.timestamp(), datetime(2026, 3, 1, tzinfo=UTC).timestamp(), SPEED)
    return feed, timeline


def test_past_postings_are_stored_with_exact_times():
    feed, timeline = history_of(250)
    source = a_source()
    now = datetime.fromtimestamp(timeline.start, UTC)
    assert store_history(feed, source.pk, Addresses(8700, "ab"), timeline, now=now) == 251
    newest = Posting.objects.order_by("-published_at")[:2]
    assert [posting.title for posting in newest] == ["Hour 0", "Hour -1"]
    assert newest[0].published_at - newest[1].published_at == timedelta(hours=1) / SPEED


def test_a_history_that_is_stored_twice_is_stored_once():
    feed, timeline = history_of(10)
    source = a_source()
    now = datetime.fromtimestamp(timeline.start, UTC)
    store_history(feed, source.pk, Addresses(8700, "ab"), timeline, now=now)
    assert store_history(feed, source.pk, Addresses(8700, "ab"), timeline, now=now) == 0
    later = now + timedelta(minutes=2)
    assert store_history(feed, source.pk, Addresses(8700, "ab"), timeline, now=later) == 2


def test_measured_delays_stand_beside_simulated_ones(tmp_path):
    """Ten feeds that publish hourly for four days and are checked every six hours."""
    start, real = NOON.timestamp(), datetime(2026, 3, 1, tzinfo=UTC).timestamp()
    record = RecordFile(tmp_path / "record")
    record(Start(start, start + 4 * 86_400, real, SPEED, 8700, {"window": 50}))
    for number in range(10):
        source = a_source(url=f"http://s{number}.replay.localhost:8700/feed")
        for posting in range(-240, 96):
            at, link = real + posting * 3_600 / SPEED, f"http://link/{number}/{posting}"
            record(Published(at, number, posting, "", link))
            retrieved_at = real + (posting // 6 + 1) * 6 * 3_600 / SPEED
            if posting >= 0:
                a_posting(source, guid="", url=link, retrieved_at=datetime.fromtimestamp(retrieved_at, UTC))
        for gap in range(1, 17):
            record(Request(real + gap * 6 * 3_600 / SPEED, number, "feed", "GET", "/feed", 200))
    record.close()
    figures_file = tmp_path / "figures"
    call_command("verify_plan", f"--record={tmp_path / 'record'}", "--budget=4", f"--json={figures_file}")
    figures = json.loads(figures_file.read_text())
    assert figures["measured_mean_minutes"] == pytest.approx(3.5 * 60)
    assert figures["used_ratio"] == pytest.approx(1.0)
    assert figures["sources"] == 10
    assert 0.6 < figures["simulated_mean_minutes"] / 210 <= 1.2
    assert figures["postings"] == 10 * 72


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--record=missing", "--budget=4"], "missing"),
        (["--record={record}", "--budget=0"], "--budget must be more than 0"),
        (["--record={record}", "--budget=4"], r"only 0\.0 days"),
    ],
)
def test_a_record_that_cannot_be_compared_is_refused(tmp_path, arguments, complaint):
    record = RecordFile(tmp_path / "record")
    record(Start(0.0, 86_400.0, 0.0, SPEED, 8700, {}))
    record(Published(10.0, 1, 0, "", "http://link"))
    record.close()
    with pytest.raises(CommandError, match=complaint):
        call_command("verify_plan", *(each.format(record=tmp_path / "record") for each in arguments))
