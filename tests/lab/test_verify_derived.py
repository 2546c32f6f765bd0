"""Derived data computed twice by workers that are killed; `manage.py verify_derived` does it with more postings."""

import json
import lzma
import random

import pytest
from django.core.management import call_command

from apps.stories.models import Story
from apps.summaries.models import Summary
from apps.trending.models import Slice
from lab.chaos.derived import tables

pytestmark = pytest.mark.django_db(transaction=True)

POSTINGS = 200
PAUSE = 8 * 86_400  # s, after which no earlier story takes others
WORDS = ("market", "vote", "storm", "league", "budget", "river", "engine", "treaty", "museum", "harvest", "signal")


@pytest.fixture
def items(tmp_path):
    """Events reported by some of six sources, in different words or in the same."""
    chance = random.Random(1)
    path = tmp_path / "items.jsonl.xz"
    with lzma.open(path, "wt", encoding="utf-8") as file:
        events = POSTINGS // 4
        for number in range(events):
            begin = 1_700_000_000 + 1_800 * number + (PAUSE if number >= events // 2 else 0)
            event = chance.sample(WORDS, 5)
            for source in chance.sample(range(6), 4):
                words = " ".join([*event, *chance.sample(WORDS, 3)])
                line = {
                    "src": source,
                    "t": begin + chance.randrange(3_600),
                    "title": f"{event[0].title()} and {event[1]} after {event[2]}",
                    "desc": f"The {words} were all that people spoke of. Nobody knew what the {event[3]} would bring.",
                }
                file.write(json.dumps(line) + "\n")
    return path


@pytest.mark.trial
def test_rows_stay_the_same_when_work_is_done_twice_and_workers_are_killed(items, tmp_path, capsys):
    figures = tmp_path / "figures.json"
    call_command("verify_derived", f"--items={items}", f"--postings={POSTINGS}", "--kills=3", f"--json={figures}")
    found = json.loads(figures.read_text())
    assert (found["postings"], found["kills"], found["differing_rows"]) == (POSTINGS, 3, 0)
    assert "trending_slice" in capsys.readouterr().out
    assert Story.objects.filter(reports__gt=1).exists()
    assert Slice.objects.exists()
    assert Summary.objects.exists()
    _missing_added_and_changed_rows_are_found()


def _missing_added_and_changed_rows_are_found():
    tables.save_digests()
    assert tables.differing() == {}
    Slice.objects.filter(pk=Slice.objects.first().pk).update(documents=1_000)
    Summary.objects.filter(posting_id=Summary.objects.first().posting_id, percent=10).delete()
    Story.objects.create(
        pk=10_000, lead_id=1, language="en", reports=1, copies=0, sources=1, first_at="2024-05-01T12:00Z",
        latest_at="2024-05-01T12:00Z",
    )  # fmt: skip
    differing = tables.differing()
    tables.drop_digests()
    assert {name: count for name, (count, _) in differing.items()} == {
        "trending_slice": 1,
        "stories_story": 1,
        "summaries_summary": 1,
    }
    assert "1000" in differing["trending_slice"][1][0]
