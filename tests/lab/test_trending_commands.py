"""The evaluation and the benchmark of trends, on a small made-up collection of stories."""

import csv
import json
import lzma
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from apps.postings.models import Posting
from apps.trending.models import Counted
from lab.evaluations.trending import stream
from lab.evaluations.trending.evaluation import METHODS, TRIALS
from tests.builders import a_source

PLACES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Accra", "Perth")
WAYS = ("Flood reaches {}", "{} evacuated after flood", "Mayor of {} speaks", "What we know about {}", "{} recovers")


@pytest.fixture
def stories(tmp_path, monkeypatch):
    """Six stories of twenty headlines, and a background that is as small."""
    monkeypatch.setattr(stream, "EVERGREENS_A_DAY", 6)
    monkeypatch.setattr(stream, "BURST_SIZE", 4)
    monkeypatch.setattr(stream, "WEEKLY", {})
    path = tmp_path / "stories.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["TITLE", "PUBLISHER", "STORY"])
        for place in PLACES:
            for number in range(20):
                rows.writerow([WAYS[number % len(WAYS)].format(place), f"Publisher {number % 12}", place])
        rows.writerow(["A row that was cut off"])
    return path


def test_every_method_is_measured_on_every_horizon(stories, tmp_path, capsys):
    call_command("evaluate_trending", stories=stories, seeds=1, json=tmp_path / "json", plot=tmp_path / "svg")
    figures = json.loads((tmp_path / "json").read_text())
    measures = ("precision", "recall", "background", "shown")
    horizons = [trial.name for trial in TRIALS]
    pooled = {f"{horizon}.{method}.{name}" for horizon in horizons for method in METHODS for name in measures}
    assert set(figures) == pooled | {f"{horizon}.ours.seed1.{name}" for horizon in horizons for name in measures}
    assert all(0 <= value <= 1 for name, value in figures.items() if not name.endswith("shown"))
    assert figures["day.ours.recall"] > 0.5
    assert figures["day.ours.recall"] == figures["day.ours.seed1.recall"]
    assert "Yioop" in capsys.readouterr().out
    assert "background" in (tmp_path / "svg").read_text()


def test_a_file_without_stories_is_named(tmp_path):
    (tmp_path / "empty.csv").write_text("TITLE,PUBLISHER\n")
    with pytest.raises(CommandError, match=r"empty\.csv has no row"):
        call_command("evaluate_trending", stories=tmp_path / "empty.csv")


def test_terms_of_recorded_hours_are_printed_for_people_to_judge(tmp_path, capsys):
    begin = int(datetime(2023, 5, 1, tzinfo=UTC).timestamp())
    lines = [
        {"src": number % 7, "t": begin + 1_200 * number, "title": f"{way.format(place)} {number}", "desc": ""}
        for number, (way, place) in enumerate((way, place) for place in PLACES for way in WAYS * 4)
    ]
    with lzma.open(tmp_path / "items.jsonl.xz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    dates = {"first": datetime(2023, 5, 1, tzinfo=UTC), "last": datetime(2023, 5, 3, tzinfo=UTC)}

    def printed(seed: int) -> list[str]:
        call_command("list_trends", items=tmp_path / "items.jsonl.xz", hours=4, history=24, seed=seed, **dates)
        return capsys.readouterr().out.splitlines()

    shown = printed(1)
    assert len(shown) == 4
    assert all(line.startswith("**2023-05-0") for line in shown)
    assert any(place in line for line in shown for place in PLACES)
    assert not any("evacuated" in line or "speaks" in line for line in shown)
    assert printed(1) == shown != printed(2)


@pytest.mark.django_db(transaction=True)
def test_counting_again_with_workers_that_die_gives_the_same_slices(stories, tmp_path):
    call_command("benchmark_trending", stories=stories, requests=2, json=tmp_path / "json")
    figures = json.loads((tmp_path / "json").read_text())
    measured = {"postings_per_s", "slicing_s", "bytes_per_posting", "list_p50_ms", "list_max_ms"}
    pages = {f"page_{kind}{share}_ms" for kind in ("", "cpu_") for share in ("p50", "p95")}
    assert set(figures) == measured | pages | {"same_after_kills"}
    assert figures["same_after_kills"] == 1
    assert all(value > 0 for value in figures.values())
    assert Posting.objects.count() == Counted.objects.count() > 120


@pytest.mark.django_db(transaction=True)
def test_the_benchmark_refuses_a_database_with_sources(stories):
    a_source()
    with pytest.raises(CommandError, match="holds sources"):
        call_command("benchmark_trending", stories=stories)
