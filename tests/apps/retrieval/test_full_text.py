"""The pages of teasers are fetched once, and their texts replace the teasers."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.documents import queries as documents
from apps.postings.models import Edition, Posting
from apps.retrieval.actions import adopt_sources, pages, set_keen_tags, train_keen_tags
from apps.retrieval.models import Page
from apps.retrieval.tasks import prune_feed_pages
from apps.sources.actions.editing import add_source
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import extract_again, retrieve_now
from tests.builders import a_source
from tests.web import HTML, RSS, serving_pages

pytestmark = pytest.mark.django_db(transaction=True)

SENTENCE = "The council voted on Tuesday to keep the old bridge open to walkers, and to repair it by spring. "
FULL = "<p>" + SENTENCE * 20 + "</p>"


def an_item(number, text):
    title = f"<title>Bridge {number}</title><link>/story-{number}</link>"
    return f"<item><guid>{number}</guid>{title}<description>{text}</description></item>"


def a_feed(*items):
    return RSS, f"<rss version='2.0'><channel><title>Bridges</title>{''.join(items)}</channel></rss>".encode()


def a_page(paragraphs=6, note=""):
    prose = "".join(f"<p>{part}: {SENTENCE * 3}</p>" for part in range(paragraphs))
    menu = "<nav><ul><li><a href='/'>Home</a></li><li><a href='/world'>World</a></li></ul></nav>"
    return HTML, (
        f"<!doctype html><html lang='en'><head><title>Bridge</title><meta name='author' content='Ada Writer'>"
        f"<meta property='og:image' content='/bridge.jpg'></head><body>{menu}<article><h1>Bridge</h1>{prose}{note}"
        f"</article><footer>© 2026 The Daily Bridge. All rights reserved.</footer></body></html>"
    ).encode()


@pytest.fixture
def web():
    with serving_pages() as server:
        yield server


def a_source_of(web, **values):
    source_id = add_source(Source(url=web.url("/feed"), always_retrieved=True, min_gap=0))
    Source.objects.filter(pk=source_id).update(**{"full_text": True} | values)
    adopt_sources(now=datetime.now(UTC))
    return source_id


def retrieve(engine, source_id):
    retrieve_now(engine, source_id)
    while engine.fetch_batch(source_id):
        pass


def test_a_teaser_is_replaced_by_its_page(engine, web):
    web.pages |= {"/feed": a_feed(an_item(1, "The council has decided.")), "/story-1": a_page()}
    source_id = a_source_of(web)
    retrieve(engine, source_id)
    posting = Posting.objects.get()
    assert posting.text.count("keep the old bridge") == 18
    assert "Home" not in posting.text
    assert "All rights" not in posting.text
    assert (posting.author, posting.language) == ("Ada Writer", "en")
    assert posting.image_url == web.url("/bridge.jpg")
    assert not Edition.objects.exists()  # no new edition
    assert documents.read(bytes(posting.document)).body == web.pages["/story-1"][1]


def test_a_page_is_fetched_once(engine, web):
    web.pages |= {"/feed": a_feed(an_item(1, "Short.")), "/story-1": a_page()}
    source_id = a_source_of(web)
    retrieve(engine, source_id)
    web.pages["/feed"] = a_feed(an_item(1, "Short."), an_item(2, "Short, too."))
    retrieve(engine, source_id)
    assert web.requested_paths.count("/story-1") == 1
    assert web.requested_paths.count("/story-2") == 1


def test_full_text_feeds_need_no_page(engine, web):
    web.pages |= {"/feed": a_feed(an_item(1, f"<![CDATA[{FULL}]]>")), "/story-1": a_page()}
    retrieve(engine, a_source_of(web))
    assert web.requested_paths.count("/story-1") == 0


def test_without_leave_no_page_is_fetched(engine, web):
    web.pages |= {"/feed": a_feed(an_item(1, "Short.")), "/story-1": a_page()}
    retrieve(engine, a_source_of(web, full_text=False))
    assert web.requested_paths.count("/story-1") == 0
    assert not Page.objects.exists()


def test_an_edited_teaser_keeps_the_text_of_the_page(engine, web):
    web.pages |= {"/feed": a_feed(an_item(1, "Short.")), "/story-1": a_page()}
    source_id = a_source_of(web)
    retrieve(engine, source_id)
    web.pages["/feed"] = a_feed(an_item(1, "Short, and edited."))
    retrieve(engine, source_id)
    assert Posting.objects.get().text.count("keep the old bridge") == 18


def test_an_unavailable_page_leaves_the_teaser(engine, web):
    web.pages |= {"/feed": a_feed(an_item(1, "Short."))}
    retrieve(engine, a_source_of(web))
    assert Posting.objects.get().text == "Short."
    assert Page.objects.get().status == 404


def test_robots_txt_is_respected_for_pages_too(engine, web):
    web.pages |= {
        "/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /story"),
        "/feed": a_feed(an_item(1, "Short.")),
        "/story-1": a_page(),
    }
    retrieve(engine, a_source_of(web))
    assert "/story-1" not in web.requested_paths
    assert "robots.txt" in Page.objects.get().reason


def test_kept_pages_are_extracted_again_without_requests(engine, web):
    web.pages |= {"/feed": a_feed(an_item(1, "Short.")), "/story-1": a_page()}
    source_id = a_source_of(web)
    retrieve(engine, source_id)
    Posting.objects.update(text="An older extractor found this.", html="<p>An older extractor found this.</p>")
    extract_again(source=source_id)
    assert Posting.objects.get().text.count("keep the old bridge") == 18
    assert web.requested_paths.count("/story-1") == 1


def test_a_site_that_is_trained_has_its_text_found_by_its_own_keen_tags(engine, web):
    items = [an_item(number, "Short.") for number in range(3)]
    web.pages |= {"/feed": a_feed(*items)} | {f"/story-{number}": a_page() for number in range(3)}
    source_id = a_source_of(web)
    retrieve(engine, source_id)
    trained = train_keen_tags(source_id, now=datetime.now(UTC))
    assert trained.pages == 3
    assert trained.after >= trained.before
    assert "p" in trained.tags
    extract_again()
    assert set(Posting.objects.values_list("extractor", flat=True)) == {"keen_tags"}


def test_training_needs_pages(web):
    source_id = a_source_of(web)
    set_keen_tags(source_id, None, now=datetime.now(UTC))
    with pytest.raises(ValueError, match="at least 2 are needed"):
        train_keen_tags(source_id, now=datetime.now(UTC))


def a_found_page(source, name, *, days, **values):
    return Page.objects.create(
        source=source,
        key=name.encode(),
        url=f"https://bridges.example/{name}",
        found_at=datetime.now(UTC) - timedelta(days=days),
        **values,
    )


def test_pages_of_feeds_are_pruned_after_a_month_unless_they_wait(monkeypatch):
    monkeypatch.setattr(pages, "PRUNED_AT_ONCE", 2)
    feed, site = a_source(), a_source(kind="site")
    for number in range(4):
        a_found_page(feed, f"fetched-{number}", days=31, decided_by="feed")
    a_found_page(feed, "gone", days=31, decided_by="answer", status=404)
    a_found_page(feed, "waiting", days=31, due_at=datetime.now(UTC))
    a_found_page(feed, "recent", days=29, decided_by="feed")
    a_found_page(site, "of-site", days=400, decided_by="rule")
    a_found_page(site, "of-site-again", days=400, decided_by="feed")
    prune_feed_pages()
    assert {bytes(key).decode() for key in Page.objects.values_list("key", flat=True)} == {
        "waiting", "recent", "of-site", "of-site-again",
    }  # fmt: skip
