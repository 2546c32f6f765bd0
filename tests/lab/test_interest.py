"""What searches do to recorded sources: in a small made-up recording, and in a live replay."""

import json
import lzma

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from apps.sources.models import Source
from lab.worlds.lines import Published, Request, Start
from lab.worlds.queries import interests_of
from lab.worlds.record import RecordFile
from lab.worlds.searches import add_searches
from tests.builders import NOON, a_posting, a_profile, a_schedule, a_source

HOUR = 3_600
BEGIN = 1_689_465_600  # 16 July 2023


@pytest.fixture
def recording(tmp_path):
    """Thirty sources with a word of their own, which publish now and then for ten weeks."""
    random = np.random.default_rng(1)
    lines = []
    for source in range(30):
        for at in np.sort(random.uniform(BEGIN - 8 * 7 * 24 * HOUR, BEGIN + 7 * 24 * HOUR, 300)):
            words = f"topic{source} subject{source} of {random.integers(1000)}"
            lines.append(json.dumps({"src": source, "t": int(at), "title": words, "desc": ""}))
    path = tmp_path / "items.jsonl.xz"
    with lzma.open(path, "wt") as file:
        file.write("\n".join(lines))
    (tmp_path / "sources.csv").write_text("src,lang,good\n" + "".join(f"{source},en,1\n" for source in range(30)))
    return path


def test_searched_postings_arrive_sooner_and_others_hardly_later(recording, tmp_path, capsys):
    call_command("evaluate_interest", items=recording, days=2.0, searches=4, json=str(tmp_path / "figures.json"))
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["retrievals_ratio"] == pytest.approx(1, abs=0.05)
    assert 4 <= figures["sources_raised"] < 20
    assert figures["raised.retrievals_ratio"] > 1.1
    assert figures["raised.delay_ratio"] < 0.95
    assert figures["others.retrievals_ratio"] > 0.88
    assert "4 searches, 30 sources" in capsys.readouterr().out


def test_a_recording_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"items\.jsonl\.xz"):
        call_command("evaluate_interest", items=tmp_path / "items.jsonl.xz")


# --- a live replay ----------------------------------------------------------------------------------------------------
def a_written_about(topic: int):
    source = a_source(listed=True, language="en", url=f"http://s{topic}.replay.localhost:8700/feed")
    for number in range(3):
        a_posting(source, title=WRITTEN[topic], text=f"{number} {WRITTEN[topic]}", language="en")
    a_schedule(source, due_at=NOON)
    a_profile(source)
    return source


WRITTEN = ["hurricane wind", "football goal", "butter onion", "election ballot", "planet comet", "violin cello"]


@pytest.mark.django_db
def test_searches_raise_the_interest_of_the_sources_they_match():
    sources = [a_written_about(topic) for topic in range(len(WRITTEN))]
    queries = add_searches([source.pk for source in sources], 2, seed=3, now=NOON)
    assert len(set(queries)) == 2
    raised = {number for number, interest in interests_of(8700).items() if interest > 1}
    assert raised == {
        topic for topic, words in enumerate(WRITTEN) if any(set(q.split()) & set(words.split()) for q in queries)
    }


@pytest.mark.django_db
def test_more_searches_than_sources_with_words_are_refused():
    source = a_written_about(0)
    with pytest.raises(ValueError, match="Only 1 of the sources have words to search for, and 2 are wanted"):
        add_searches([source.pk], 2, seed=3, now=NOON)


@pytest.mark.django_db
def test_two_records_are_compared_by_what_searches_raise(tmp_path, capsys):
    """Two sources, of which one is searched and therefore checked twice as often."""
    for number, interest in ((0, 4.0), (1, 1.0)):
        Source.objects.filter(pk=a_source(url=f"http://s{number}.replay.localhost:8700/feed").pk).update(
            interest=interest
        )
    files = []
    for name, gaps in (("with", (2, 8)), ("without", (4, 4))):
        record = RecordFile(tmp_path / name)
        record(Start(0.0, 4 * 86_400.0, 100.0, 3_600.0, 8700, {"window": 50}))
        for number, gap in enumerate(gaps):
            for hour in range(96):
                record(Published(100.0 + hour, number, hour, f"{number}-{hour}", ""))
                if hour % gap == gap - 1:
                    record(Request(100.0 + hour, number, "feed", "GET", "/feed", 200, first=0, count=hour + 1))
        record.close()
        files.append(f"--{name}={tmp_path / name}")
    call_command("verify_interest", *files, f"--json={tmp_path / 'figures'}")
    figures = json.loads((tmp_path / "figures").read_text())
    assert figures["raised.retrievals_ratio"] == pytest.approx(2, rel=0.05)
    assert figures["others.retrievals_ratio"] == pytest.approx(0.5, rel=0.05)
    assert figures["raised.delay_ratio"] == pytest.approx(0.5 / 1.5)
    assert figures["others.delay_ratio"] == pytest.approx(3.5 / 1.5)
    assert "2 sources, 1 of them raised" in capsys.readouterr().out


@pytest.mark.django_db
def test_a_missing_record_is_named(tmp_path):
    with pytest.raises(CommandError, match="missing is empty or does not exist"):
        call_command("verify_interest", f"--with={tmp_path / 'missing'}", f"--without={tmp_path / 'missing'}")
