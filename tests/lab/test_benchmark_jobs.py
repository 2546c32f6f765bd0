"""One worker, two, and two of which one is killed: all come to the same."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command

from apps.jobs.actions import claiming, working
from apps.jobs.models import Attempt
from apps.postings.algorithms.extraction.articles import extract_article
from apps.retrieval import jobs, sandbox
from apps.search.models import Document
from apps.search.queries import spans
from lab.benchmarks.archive_jobs import comparing, workers
from lab.benchmarks.archive_jobs.kept_pages import render
from tests.lab.items import write_items

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.trial
def test_a_killed_worker_changes_nothing_but_the_time(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(claiming, "LEASE", timedelta(seconds=2))
    monkeypatch.setattr(claiming, "MAX_LOSSES", 100)  # of a machine that is busy
    monkeypatch.setattr(working, "RENEW_SECONDS", 0.2)
    monkeypatch.setattr(workers, "WATCHED_EVERY", 0.02)
    monkeypatch.setattr(spans, "MIN_POSTINGS", 10)
    monkeypatch.setattr(jobs, "PAGES", 2)
    monkeypatch.setattr(sandbox, "run", lambda do, *arguments, **named: do(*arguments, **named))  # no child to wait for
    extract_article(render(1, 1).encode(), content_type="text/html", url="")  # loads what it needs before the forks
    figures = tmp_path / "figures.json"
    call_command("benchmark_jobs", items=write_items(tmp_path, 300), count=300, pages=12, kill=True, json=str(figures))
    found = json.loads(figures.read_text())
    assert (found["postings"], found["pages"], found["differing_rows"], found["killed"]) == (300, 12, 0, 2)
    assert found["index.speedup"] == found["index.one_s"] / found["index.two_s"]
    assert "extract, two" in capsys.readouterr().out
    assert Attempt.objects.filter(outcome=Attempt.Outcome.DONE).exists()
    _a_document_that_is_missing_or_says_something_else_is_found()


def _a_document_that_is_missing_or_says_something_else_is_found():
    before = comparing.of_documents()
    some, other = Document.objects.filter(dead=False)[:2]
    Document.objects.filter(pk=some.pk).update(pairs=some.sequence[:4])
    other.delete()
    assert comparing.differing(before, comparing.of_documents()) == 2
