"""What readers of a folder's feed receive in a day, at a tiny size."""

import json

import pytest
from django.core.management import call_command

from apps.postings.models import Posting
from lab.management.commands import benchmark_feeds

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.trial
def test_conditional_requests_and_deltas_save_bytes_and_lose_no_entry(tmp_path, monkeypatch):
    """The command itself ends with an error if a reader has other entries than the feed."""
    monkeypatch.setattr(benchmark_feeds, "STEPS", 24)
    monkeypatch.setattr(benchmark_feeds, "BEFORE", 1)
    call_command("benchmark_feeds", sources=3, a_day=[16.0], json=tmp_path / "figures.json")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert (figures["sources"], figures["seed"]) == (3, 7)
    readers = {f"a_day_16.{way}.{minutes}_min" for way in benchmark_feeds.MODES for minutes in (15, 60)}
    measures = ("requests", "received_bytes", "sent_bytes", "saved")
    assert {f"{reader}.{name}" for reader in readers for name in measures} <= set(figures)
    assert 0 < figures["a_day_16.published"] < Posting.objects.count()
    for minutes, requests in ((15, 24), (60, 6)):
        assert figures[f"a_day_16.plain.{minutes}_min.requests"] == requests
        assert figures[f"a_day_16.plain.{minutes}_min.saved"] == 0
        assert figures[f"a_day_16.deltas.{minutes}_min.saved"] > figures[f"a_day_16.conditional.{minutes}_min.saved"]
    assert figures["a_day_16.conditional.15_min.saved"] > 0
