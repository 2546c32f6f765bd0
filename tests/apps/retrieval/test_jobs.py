"""Kept pages extracted again and sites crawled, as jobs."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.documents import actions as documents
from apps.jobs import actions
from apps.jobs.actions import working
from apps.jobs.models import Emitted, Job, Split
from apps.postings.models import Posting
from apps.retrieval import jobs
from apps.retrieval.models import Crawl
from apps.retrieval.worker import engine
from tests.apps.retrieval.retrieving import extract_again
from tests.builders import a_posting, a_schedule, a_source

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SENTENCE = "The council voted on Tuesday to keep the old bridge open to walkers, and to repair it by spring. "


def a_kept_posting(source, number: int) -> Posting:
    body = f"<title>Bridge</title><h1>Bridge {number}</h1><p>{SENTENCE * 6}</p><p>It is number {number}.</p>".encode()
    digest = documents.keep(body, url=f"https://a.example/{number}", content_type="text/html", now=NOW, days=10_000)
    return a_posting(source, document=digest, text="Old.", html="<p>Old.</p>", extractor="an older one")


def test_kept_pages_are_extracted_again_in_slices(monkeypatch):
    monkeypatch.setattr(jobs, "PAGES", 3)
    large, *small = [a_source() for _ in range(4)]
    for source in (large, *small):
        a_schedule(source)
    numbers = iter(range(100))
    kept = [a_kept_posting(large, next(numbers)) for _ in range(7)]
    kept += [a_kept_posting(source, next(numbers)) for source in small]
    other = a_posting(large)
    assert extract_again() == {"pages": 10, "texts": 10, "unusable": 0}
    sizes = Split.objects.order_by("number").values_list("records", flat=True)
    assert sorted(sizes) == [1, 3, 3, 3]  # two whole slices of the large source; the rest of it with two small ones
    for number, posting in enumerate(kept):
        assert f"It is number {number}." in Posting.objects.get(pk=posting.pk).text
    assert Posting.objects.get(pk=other.pk).text == other.text


def test_pages_of_one_source_are_extracted_and_lost_ones_reported():
    source, another = a_source(), a_source()
    kept, lost, foreign = a_kept_posting(source, 1), a_posting(source, document=bytes(32)), a_kept_posting(another, 2)
    result = extract_again(source=source.pk)
    assert (result["pages"], result["texts"], result["unusable"]) == (2, 1, 1)
    assert f"Posting {lost.pk}: The document 000000000000 is not kept" in result["problems"][0]
    assert "It is number 1." in Posting.objects.get(pk=kept.pk).text
    assert Posting.objects.get(pk=foreign.pk).text == "Old."


def test_a_posting_that_has_another_page_by_now_keeps_what_that_says(monkeypatch):
    posting = a_kept_posting(a_source(), 1)
    job, _ = actions.claiming.create("extract", requested_by="a test")
    actions.advancing.advance(job.pk)
    claim = actions.claiming.claim("a worker", job.pk)
    write = jobs._extract(claim.parameters, lambda: None)
    Posting.objects.filter(pk=posting.pk).update(document=bytes(32), text="Of the other page.")
    actions.claiming.commit(claim.attempt_id, write)
    assert Posting.objects.get().text == "Of the other page."


class Site:
    """Stands in for the engine: some batches, and then nothing is left."""

    def __init__(self, batches: int) -> None:
        self.left, self.fetched = batches, []

    def fetch_batch(self, source_id: int) -> bool:
        self.fetched.append(source_id)
        self.left -= 1
        return self.left >= 0


def a_site(partition: int, pages: int):
    source = a_source(kind="site", always_retrieved=True)
    a_schedule(source, partition=partition)
    Crawl.objects.create(source=source, due_at=NOW)
    source.pages.model.objects.bulk_create(
        source.pages.model(source=source, key=bytes([number]) * 16, url=f"https://a/{number}", found_at=NOW, due_at=NOW)
        for number in range(pages)
    )
    return source


def test_a_round_of_crawling_takes_the_waiting_pages_of_a_partition(monkeypatch):
    site = Site(2)
    monkeypatch.setattr(engine, "current", lambda: site)
    here, _, done = a_site(3, 5), a_site(4, 5), a_site(3, 0)
    job, _ = actions.claiming.create("crawl", {"partition": 3}, requested_by="a test")
    working.work("a worker", job.pk)
    assert site.fetched == [here.pk] * 3
    assert done.pk not in site.fetched
    assert list(Split.objects.values_list("records", flat=True)) == [5]
    assert Job.objects.get().result == {"turns": 2}


def test_a_slow_site_has_its_time_and_no_more(monkeypatch):
    site = Site(1_000)
    monkeypatch.setattr(engine, "current", lambda: site)
    monkeypatch.setattr(jobs, "MAX_SITE_SECONDS", 0.0)
    a_site(3, 5)
    job, _ = actions.claiming.create("crawl", requested_by="a test")
    working.work("a worker", job.pk)
    assert Job.objects.get(pk=job.pk).state == Job.State.DONE
    assert len(site.fetched) <= 1


def test_pages_that_are_due_later_are_not_in_the_round():
    source = a_site(3, 2)
    source.pages.update(due_at=datetime.now(UTC) + timedelta(hours=1))
    job, _ = actions.claiming.create("crawl", requested_by="a test")
    working.work("a worker", job.pk)
    assert not Split.objects.exists()


# --- update -----------------------------------------------------------------------------------------------------------
def a_kept_page_of(site, number: int, links: str) -> None:
    body = f"<title>Bridge {number}</title><p>{SENTENCE * 6}</p>{links}".encode()
    digest = documents.keep(body, url=f"https://a.example/news/{number}", content_type="text/html", now=NOW, days=9_000)
    a_posting(site, document=digest)


def test_links_of_kept_pages_are_merged_and_stored_once(monkeypatch):
    monkeypatch.setattr(jobs, "PAGES", 2)
    site = a_source(kind="site", url="https://a.example/", always_retrieved=True)
    foreign = '<a href="https://b.example/away">Away</a>'
    for number in range(5):
        common = f'<a href="/world/storm">{"A storm " * (1 + number % 3)}</a>'
        own = f'<a href="/politics/vote-{number}">The vote {number}</a>'
        a_kept_page_of(site, number, common + own + foreign)
    a_kept_page_of(a_source(), 9, '<a href="/none">Of a feed, which is not crawled</a>')
    job, _ = actions.claiming.create("update", requested_by="a test")
    working.work("a worker", job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, {"addresses": 6, "new pages": 6})
    assert Split.objects.filter(stage="map").count() == 3
    found = dict(site.pages.values_list("url", "link_text"))
    assert found["https://a.example/world/storm"] == "A storm A storm A storm"
    assert {f"https://a.example/politics/vote-{number}" for number in range(5)} < found.keys()
    assert not any("b.example" in url or "none" in url for url in found)
    assert not Emitted.objects.exists()
    before = list(site.pages.order_by("pk").values_list("pk", "url", "link_text"))
    again, _ = actions.claiming.create("update", requested_by="a test")
    working.work("a worker", again.pk)
    again.refresh_from_db()
    assert again.result == {"addresses": 6, "new pages": 0}
    assert list(site.pages.order_by("pk").values_list("pk", "url", "link_text")) == before
