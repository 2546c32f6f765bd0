"""Sites without feeds are crawled: news pages once, index pages like feeds, traps and forbidden pages not at all."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apps.retrieval.actions import adopt_sources, begin_batch, change_crawl, decide_page, store_batch
from apps.retrieval.models import Crawl, Page, Retrieval, Schedule, WeeklyProfile
from apps.retrieval.queries import due_crawls
from apps.sources import queries
from apps.sources.actions.editing import add_index_pages
from apps.sources.algorithms.addresses import partition
from apps.sources.models import Source
from lab.benchmarks.crawl_rounds import begin, crawl, measure, visit
from lab.worlds.crawled_server import serving_site
from tests.builders import a_source
from tests.web import HTML, serving_pages

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def a_site(**values):
    source = a_source(url="https://site.example/", kind="site", always_retrieved=True)
    Crawl.objects.create(source=source, due_at=NOW, **values)
    return source


def some_pages(source, count, **values):
    return Page.objects.bulk_create(
        Page(
            source=source,
            key=bytes([number] * 16),
            url=f"https://site.example/{number}",
            found_at=NOW,
            **{"due_at": NOW, "priority": number} | values,
        )
        for number in range(count)
    )


def test_a_site_is_crawled_whole_and_later_rounds_fetch_only_what_is_new(engine):
    with serving_site(120, seed=3) as server:
        site_id = begin(server.url)
        first = crawl(engine, server, site_id)
        known = server.site.count_pages()
        server.publish(6)
        later = crawl(engine, server, site_id)
        figures = measure(server.site, site_id, first, [later], known)
    assert figures["coverage"] == 1.0
    assert figures["postings"] == 126  # and nothing but articles, each once, whatever its address was
    assert figures["fetched_more_than_once"] == 0
    assert figures["revisited_no_index"] == 0
    assert figures["forbidden_requests"] == 0
    assert figures["trap_requests"] <= 40
    assert figures["saved"] >= 0.85
    # The first page is the site itself; the further pages of lists show nothing new.
    assert set(Source.objects.filter(site_id=site_id).values_list("url", flat=True)) == {
        server.base + path for path in server.site.index_paths() - {"/"}
    }


def test_pages_are_fetched_by_their_promise_and_a_lease_keeps_others_away():
    site = a_site()
    some_pages(site, 40)
    batch = begin_batch(site.pk, now=NOW)
    assert [page.url for page in batch.pages] == [f"https://site.example/{number}" for number in range(39, 14, -1)]
    assert begin_batch(site.pk, now=NOW) is None
    assert begin_batch(site.pk, now=NOW + timedelta(minutes=6)) is not None  # its worker was lost


def test_a_lost_lease_stores_nothing():
    site = a_site()
    some_pages(site, 3)
    lost = begin_batch(site.pk, now=NOW)
    begin_batch(site.pk, now=NOW + timedelta(minutes=6))
    assert store_batch(lost, [], now=NOW + timedelta(minutes=7)) is False


def test_no_more_pages_are_fetched_in_a_day_than_the_limit():
    site = a_site(pages_per_day=30)
    some_pages(site, 60)
    requests = 0
    for _ in range(4):
        if batch := begin_batch(site.pk, now=NOW):
            requests += len(batch.pages)
            Crawl.objects.update(leased_until=None)
    assert requests == 30
    assert Crawl.objects.get().due_at == NOW + timedelta(days=1)
    assert len(begin_batch(site.pk, now=NOW + timedelta(days=1)).pages) == 25


def test_an_unfollowed_site_is_not_crawled():
    site = a_site()
    some_pages(site, 3)
    Source.objects.update(always_retrieved=False)
    assert begin_batch(site.pk, now=NOW) is None


def test_an_operator_has_a_page_ignored_or_fetched_again():
    site = a_site()
    [page] = some_pages(site, 1)
    assert decide_page(site.pk, page.pk, "valueless", now=NOW)
    assert begin_batch(site.pk, now=NOW) is None
    assert decide_page(site.pk, page.pk, "", now=NOW)
    assert len(begin_batch(site.pk, now=NOW).pages) == 1
    assert not decide_page(a_source().pk, page.pk, "", now=NOW)


def test_raised_limits_hold_at_once():
    site = a_site(pages_per_day=0)
    some_pages(site, 3)
    assert begin_batch(site.pk, now=NOW) is None
    change_crawl(site.pk, now=NOW, pages_per_day=10)
    assert len(begin_batch(site.pk, now=NOW).pages) == 3


def test_index_pages_are_as_active_and_as_much_worth_as_their_site():
    site = a_site()
    add_index_pages(site.pk, [("https://site.example/world/", "World")])
    adopt_sources(now=NOW)
    page = Source.objects.get(kind="index")
    assert Schedule.objects.get(pk=page.pk).due_at == NOW
    Source.objects.filter(pk=site.pk).update(weight=7, state=Source.State.PAUSED)
    adopt_sources(now=NOW)
    page.refresh_from_db()
    assert (page.weight, page.state) == (7, Source.State.PAUSED)
    assert Schedule.objects.get(pk=page.pk).due_at is None


def test_people_see_the_site_and_never_its_index_pages():
    site = a_site()
    add_index_pages(site.pk, [("https://site.example/world/", "World")])
    assert list(queries.everything()) == [site]
    assert queries.by_address(["https://site.example/world/"]) == {"https://site.example/world/": site.pk}


def test_the_delay_of_a_new_article_is_stored_with_its_retrieval(engine):
    def an_article(number):
        published = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
        prose = "<p>The council voted on Tuesday to keep the old bridge open to walkers until spring.</p>" * 9
        head = (
            f'<meta property="og:type" content="article"><meta property="article:published_time" content="{published}">'
        )
        return HTML, f"<html><head>{head}</head><body><article><h1>Story {number}</h1>{prose}</article>".encode()

    def a_list(count):
        items = "".join(f"<li><a href='/story-{n}'>The story with the number {n} is this</a>" for n in range(count))
        return HTML, f"<h1>News</h1><ul>{items}</ul>".encode()

    with serving_pages({"/": a_list(8)} | {f"/story-{n}": an_article(n) for n in range(9)}) as web:
        site_id = begin(web.url("/"))
        visit(engine, site_id)
        while engine.fetch_batch(site_id):
            pass
        assert sum(Retrieval.objects.values_list("dated", flat=True)) == 0  # there was no earlier fetch
        Retrieval.objects.update(fetched_at=datetime.now(UTC) - timedelta(hours=1))
        web.pages["/"] = a_list(9)
        web.pages["/story-8"] = an_article(8)
        visit(engine, site_id)
        while engine.fetch_batch(site_id):
            pass
    latest = Retrieval.objects.latest("fetched_at")
    assert (latest.outcome, latest.new, latest.dated) == (Retrieval.Outcome.NEW, 1, 1)
    assert 300 <= latest.delay_seconds == latest.longest_delay_seconds < 360


def test_links_to_other_crawled_sites_are_handed_over_to_their_partitions(engine):
    def a_list(*addresses):
        items = "".join(f"<li><a href='{address}'>The story at {address} is this one</a>" for address in addresses)
        return HTML, f"<h1>News</h1><ul>{items}</ul>".encode()

    own, elsewhere = [f"/story-{number}" for number in range(8)], "https://other.example/2026/05/story"
    lists = {
        "/": a_list("/world/", *own, f"{elsewhere}-1", "https://unknown.example/story"),
        "/world/": a_list(*own, f"{elsewhere}-1", f"{elsewhere}-2"),
    }
    other = a_source(url="https://www.other.example/", kind="site", always_retrieved=True)
    with serving_pages(lists) as web:
        site_id = begin(web.url("/"))
        Crawl.objects.create(source=other)
        visit(engine, site_id)
        assert set(Page.objects.filter(source=other).values_list("url", flat=True)) == {f"{elsewhere}-1"}
        while engine.fetch_batch(site_id):
            pass
    theirs = Page.objects.filter(source=other).order_by("url")
    assert list(theirs.values_list("url", "found_on", "depth")) == [(f"{elsewhere}-{n}", None, 1) for n in (1, 2)]
    assert (other.pk, partition(other.url)) in due_crawls(datetime.now(UTC), 10)
    assert not Page.objects.filter(source=site_id, url__contains="other.example").exists()
    assert not Page.objects.filter(url__contains="unknown.example").exists()


def test_once_a_site_is_explored_its_first_page_is_planned_by_what_was_found(engine):
    with serving_site(150, seed=4) as server:
        # Articles as of now: one each 20 minutes, the latest a moment ago.
        server.site = replace(server.site, begins=datetime.now(UTC) - 150 * timedelta(minutes=20))
        site_id = begin(server.url)
        visit(engine, site_id)
        before = WeeklyProfile.objects.get(pk=site_id).weekly
        while engine.fetch_batch(site_id):
            pass
    assert Crawl.objects.get().explored_at is not None
    assert WeeklyProfile.objects.get(pk=site_id).weekly > 10 * before
