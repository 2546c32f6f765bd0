"""The benchmarks, at sizes at which they measure nothing: they run, and say what they promise to say."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from apps.postings.models import Posting
from apps.retrieval.models import Retrieval
from apps.search.models import SavedSearch
from lab.benchmarks.index import adding
from lab.chaos.index.exercise import ADDED_AT_ONCE, Writer
from lab.management.commands import (
    benchmark_alerts,
    benchmark_archive,
    benchmark_growth,
    benchmark_pages,
    benchmark_people,
    benchmark_search,
    benchmark_sustained,
    verify_alerts,
)
from tests.builders import a_source
from tests.lab.items import write_items

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]  # the machine may be busy


@pytest.fixture
def run(tmp_path):
    """Runs a command; its figures."""

    def call(name, **options):
        file = tmp_path / f"{name}.json"
        call_command(name, json=str(file), **options)
        return json.loads(file.read_text())

    return call


def timings(*names):
    return {f"{name}_{part}_ms" for name in names for part in ("p50", "p99", "cpu")}


def test_matching_of_searches_agrees_with_a_scan(run, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark_alerts, "LENGTHS", (12, 60, 200))
    monkeypatch.setattr(benchmark_alerts, "ARCHIVE", 50)
    monkeypatch.setattr(benchmark_alerts, "MEASURED", 5)
    monkeypatch.setattr(benchmark_alerts, "WARM_UP", 1)
    monkeypatch.setattr(benchmark_alerts, "SCANNED", (40, 5))
    figures = run("benchmark_alerts", items=write_items(tmp_path, 400, title_words=8), searches=100, hits=250)
    assert timings(*benchmark_alerts.LABELS) <= set(figures)
    assert (figures["searches"], figures["refused"], figures["naive_wrong"]) == (100, 0, 0)
    assert figures["anchors"] >= 100
    assert 0 < figures["hits12"] < figures["hits200"] <= 100
    assert SavedSearch.objects.count() == 100
    assert figures["match_p50_ms"] == figures["match60_p50_ms"] > 0


def test_archives_of_all_sizes_hold_everything_newest_first(run, tmp_path):
    figures = run("benchmark_archive", sizes=[30, 60], sources=[1, 3], plot=tmp_path / "plot.svg")
    sizes = {f"{way}.{size}.s" for way in ("ours", "baseline") for size in (30, 60)}
    assert sizes | {f"ours.{size}.{count}_sources.s" for size in (30, 60) for count in (1, 3)} <= set(figures)
    assert {"line.ms_per_item", "line.r2", "per_item_ratio"} <= set(figures)
    assert (figures["all_listed"], figures["second_run_only_304"]) == (1, 1)
    assert (tmp_path / "plot.svg").read_text().count("rebuilt at every shard") >= 1
    assert not Posting.objects.exists()


def test_an_incomplete_list_of_an_archive_is_reported(run, monkeypatch):
    monkeypatch.setattr(benchmark_archive, "all_are_listed", lambda: False)
    assert run("benchmark_archive", sizes=[20], sources=[1])["all_listed"] == 0


def test_a_made_up_site_is_crawled_once_and_then_only_for_what_is_new(run):
    figures = run("benchmark_crawl", pages=60, rounds=1, new=5)
    assert (figures["coverage"], figures["postings"], figures["articles"]) == (1, 60, 60)
    assert (figures["fetched_more_than_once"], figures["forbidden_requests"], figures["revisited_no_index"]) == (
        0,
        0,
        0,
    )
    assert figures["later_round_requests"] < figures["first_round_requests"]
    assert figures["saved"] == pytest.approx(1 - figures["later_round_requests"] / figures["pages"])


@pytest.mark.trial
def test_pages_are_requested_in_every_way(run, child_processes, monkeypatch):
    for name, size in (("HEAVY", 10), ("COUNTED", 2), ("MIN_MEASURED", 4)):
        monkeypatch.setattr(benchmark_pages, name, size)
    figures = run("benchmark_pages", postings=1_000, sources=40, people=60, seconds=1)
    parts = {f"{name}.{part}_ms" for name in benchmark_pages.LABELS for part in ("p50", "p95", "p99")}
    assert parts | {f"{page}.queries" for page in ("river", "folder", "feed", "article")} <= set(figures)
    assert (figures["postings"], figures["failures"], figures["wrong_counts"]) == (1_000, 0, 0)
    assert Posting.objects.count() == 1_000
    assert figures["mark_all.postings"] >= 100
    assert 0 < figures["mark_older.postings"] < figures["mark_all.postings"]


@pytest.mark.trial
def test_archives_of_two_sizes_are_compared_by_what_each_page_and_article_costs(run, child_processes, monkeypatch):
    monkeypatch.setattr(benchmark_growth, "MEASURED", 8)
    sizes = {"small": 1_000, "large": 3_000}
    figures = run("benchmark_growth", **sizes, sources=20, people=8, characters=200)
    for name, postings in sizes.items():
        assert figures[f"{name}.postings"] == postings
        assert figures[f"{name}.retention.postings"] == pytest.approx(postings * 30 / 365, rel=0.2)
        assert all(figures[f"{name}.{unit}"] > 0 for unit in benchmark_growth.UNITS)
    assert figures["growth.backup"] == figures["large.backup.ms"] / figures["small.backup.ms"]
    assert not Posting.objects.exists()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("benchmark_growth", {"small": 2_000, "large": 1_000}),
        ("benchmark_people", {"accounts": 5, "active": 6}),
        ("benchmark_people", {"minutes": 0.0}),
        ("benchmark_rolling", {"rounds": 0}),
        ("benchmark_rolling", {"rate": 0.0}),
    ],
)
def test_load_tests_of_nothing_are_refused(run, name, options):
    with pytest.raises(CommandError, match="must be"):
        run(name, **options)


def test_growth_of_memory_is_that_from_the_first_to_the_last_fifth():
    assert benchmark_people.growth([100.0] * 20 + [500.0] * 60 + [110.0] * 20) == pytest.approx(10)
    assert benchmark_people.growth([]) == 0.0


@pytest.mark.trial
@pytest.mark.filterwarnings("ignore")  # of tantivy
def test_the_index_answers_beside_its_rivals(run, tmp_path, child_processes, monkeypatch):
    for name, size in (("SMALL", 300), ("BATCHES", 2), ("FOUND", 2), ("WARM_UP", 5), ("DRAWN_TO_FILL", 40)):
        monkeypatch.setattr(benchmark_search, name, size)
    monkeypatch.setattr(adding, "READERS", 1)
    figures = run(
        "benchmark_search", items=write_items(tmp_path, 1_100, title_words=6), count=800, questions=10, pause=0.01
    )
    assert timings(*benchmark_search.LABELS) <= set(figures)
    assert {"ts_rank_ratio", "tantivy_ratio", "newest_ratio", "add50_ratio", "found_after_p50_s"} <= set(figures)
    assert min(figures["index_mb"], figures["ts_rank_build_s"], figures["tantivy_build_s"]) > 0


@pytest.mark.trial
def test_the_search_page_is_measured_over_http(measured, tmp_path):
    items = write_items(tmp_path, 400, title_words=6)
    figures = measured("benchmark_search", "--http", "--items", str(items), "--count", "400", "--questions", "9")
    assert min(figures["http_first_ms"], figures["http_p95_ms"], figures["http_per_s"]) > 0


@pytest.mark.trial
def test_every_source_is_retrieved_in_every_round_and_postings_are_stored(child_processes, tmp_path):
    """In a process of its own, which sends its messages to the broker of the worker that it starts."""
    file = tmp_path / "figures.json"
    command = [sys.executable, "manage.py", "benchmark_ingest", "--sources", "4", "--small", "60", "--large", "120"]
    done = subprocess.run(
        [*command, "--batches", "2", "--json", str(file)],
        cwd=settings.BASE_DIR,
        env=os.environ | {"WIREBEAT_NO_VENV": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text())
    rounds = ("first", "nothing_new", "known")
    assert {f"{name}_{what}" for name in rounds for what in ("retrievals_per_s", "cpu_ms_per_retrieval")} <= set(
        figures
    )
    assert figures["postings_ratio"] == figures["postings_per_s_large"] / figures["postings_per_s_small"]
    assert Retrieval.objects.count() == 3 * 4
    assert set(Retrieval.objects.values_list("status", flat=True)) == {200, 304}
    assert Posting.objects.filter(source__url__startswith="https://archive").count() == 120 + 2 * 2 * 50


@pytest.mark.trial
def test_retrievals_are_sustained_by_real_processes(run, child_processes, monkeypatch):
    for name, value in (("SPEED", 600.0), ("HOUR", 1.0), ("SPREAD", 1.0), ("WATCHED_EVERY", 0.5)):
        monkeypatch.setattr(benchmark_sustained, name, value)
    figures = run("benchmark_sustained", per_hour=36_000, minutes=0.3, sources=30)
    assert {"lateness_p50_s", "lateness_p99_s", "retrieving_cpu_share", "beat_cpu_share", "memory_mb_per_hour"} <= set(
        figures
    )
    assert figures["retrievals_per_hour"] > 0
    assert min(figures["memory_first_mb"], figures["memory_last_mb"]) > 50
    assert Retrieval.objects.values("source").distinct().count() >= 29


def test_rows_that_periodic_tasks_read_are_counted(run):
    figures = run("benchmark_tasks", postings=60, sources=6, people=4)
    tasks = {name.removesuffix(".rows") for name in figures if name.endswith(".rows")}
    assert {"replan", "match_alerts", "note_postings_that_search_missed"} < tasks
    assert figures["note_postings_that_search_missed.rows"] >= 2 * 60  # postings and documents
    assert figures["most_rows_often"] >= figures["replan.rows"]


@pytest.mark.trial
def test_every_alert_is_delivered_once(run, child_processes, monkeypatch):
    """Without killed workers, whose leases last for minutes; the command covers them."""
    monkeypatch.setattr(verify_alerts, "BATCH_SECONDS", 0.1)
    monkeypatch.setenv("WIREBEAT_HOST_GAP", "0")  # all calls go to one host
    # By this seed the webhook fails once: what failed is sent again after five seconds.
    figures = run("verify_alerts", people=2, postings=5, kills=0, seed=53)
    assert figures["hits"] == 2 * 15  # each of the postings answers both searches
    assert (figures["hits_missing"], figures["lost"], figures["doubled"], figures["unexplained"]) == (0, 0, 0, 0)
    assert figures["messages"] >= 3 * 2  # by mail, browser and webhook
    assert figures["webhook_calls_refused"] == 1
    assert figures["attempts"] == figures["messages"] + 1
    assert 0 < figures["first_attempt_p50_s"] <= figures["first_attempt_max_s"]


def test_confirmed_postings_are_verified_and_a_deleted_one_is_found(tmp_path, capsys):
    output = tmp_path / "output"
    with output.open("w") as file:
        Writer("w", lambda line: file.write(json.dumps(line) + "\n")).write()
    assert Posting.objects.count() == ADDED_AT_ONCE
    assert prove(output, capsys) == []
    Posting.objects.filter(guid="w-0").delete()
    assert prove(output, capsys) != []


def prove(output, capsys):
    call_command("exercise_index", "prove", str(output), parent=os.getppid())
    return json.loads(capsys.readouterr().out)["faults"]


def test_load_on_the_index_ends_with_its_parent_process(capsys):
    call_command("exercise_index", "write", parent=0)
    assert not Posting.objects.exists()
    assert capsys.readouterr().out == ""


def test_benchmarks_refuse_a_database_with_sources(run):
    a_source()
    with pytest.raises(CommandError, match="holds sources"):
        run("benchmark_crawl", pages=20)
