"""Postings of one article have one key to be folded by, whichever feeds they come by."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from apps.postings.actions import Document, PageOfPosting, fill, forget_old_fingerprints, store
from apps.postings.actions.duplicates import CANDIDATES, HOLDERS
from apps.postings.algorithms.extraction.articles import Article
from apps.postings.models import Fingerprint, Posting
from apps.sources.formats.feed import ParsedEntry
from tests.builders import a_source

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
AGENCY = (
    "The river left its banks on Friday night after three days of rain, and two hundred cellars in the old town had"
    " to be pumped out by firemen. The mayor asked people to stay at home until the water has gone down. Trains to"
    " Porto do not run before Sunday, said the railway, and schools remain closed on Monday. Nobody was hurt, as far as"
    " is known."
)
OTHER = (
    "Firemen in Lisbon are pumping out cellars after the river flooded the old town on Friday, the worst flood in ten"
    " years. Officials put the damage at four million euros and expect more rain next week, when the tide is high."
)


def from_template(number: int) -> str:
    """A report that shares bands with all others from this template."""
    return AGENCY.partition(" The mayor")[0] + "".join(
        f" Level {number} at gauge {number}{gauge}." for gauge in "abcdefg"
    )


POSTINGS = """
INSERT INTO postings_posting (source_id, identity, link_key, content_hash, text_hash, guid, url, title, author, html,
    text, language, categories, image_url, comments_url, enclosures, published_at, retrieved_at, fold_key)
SELECT %s, decode(md5('i' || n), 'hex'), '', '', '', '', '', '', '', '', '', '', '{}', '', '', '[]',
    timestamptz '2026-03-01 12:00Z', now(), n FROM generate_series(1, 5000) n
"""
FINGERPRINTS = """
INSERT INTO postings_fingerprint (posting_id, published_at, bands, values, words)
SELECT id, published_at, ARRAY(SELECT hashtextextended(id || ' ' || n, 0) FROM generate_series(1, 17) n), '', 100
FROM postings_posting
"""

pytestmark = pytest.mark.django_db


def carried(title: str = "Storm", text: str = AGENCY, link: str = "", at: datetime = NOON) -> Posting:
    source = a_source()
    entry = ParsedEntry(
        guid=f"guid of {source.pk}",
        link=link or f"https://paper{source.pk}.example/a",
        title=title,
        content=f"<p>{text}</p>",
        published=at,
    )
    store([Document(source.pk, [entry], "", "", "en", at)])
    return Posting.objects.get(source=source)


def test_agency_text_under_another_headline_is_folded():
    first = carried("Storm floods Lisbon")
    edited = AGENCY.replace("firemen", "fire fighters").removesuffix(" Nobody was hurt, as far as is known.")
    assert carried("Old town under water", f"LISBON (Agency) — {edited}").fold_key == first.fold_key != 0


def test_another_report_of_the_same_event_is_not_folded():
    assert carried().fold_key != carried(text=OTHER).fold_key


@pytest.mark.parametrize(
    "link",
    [
        "https://news.example/story/7?utm_source=rss",
        "https://amp.news.example/story/7",
        "https://m.news.example/story/7/",
        "https://www.news.example/story/7/amp/",
        "https://news-example.cdn.ampproject.org/c/s/news.example/story/7",
        "https://www.google.com/amp/s/www.news.example/story/7?amp=1",
    ],
)
def test_one_page_is_folded_whatever_its_texts(link):
    assert carried(link="https://news.example/story/7").fold_key == carried(text="A teaser.", link=link).fold_key


def test_roots_of_hosts_are_no_pages():
    one, other = carried(text="One.", link="https://news.example/"), carried(text="Two.", link="https://news.example/")
    assert one.fold_key == other.fold_key == 0


def test_a_column_that_returns_after_two_days_is_not_a_copy_of_a_near_one():
    edited = AGENCY.replace("firemen", "fire fighters")
    assert carried().fold_key != carried(text=edited, at=NOON + timedelta(hours=49)).fold_key


def test_copies_in_one_batch_are_folded():
    sources = [a_source(), a_source()]
    entries = [ParsedEntry(guid="1", link=f"https://a{each.pk}.example/1", content=AGENCY) for each in sources]
    store([Document(each.pk, [entry], "", "", "", NOON) for each, entry in zip(sources, entries, strict=True)])
    assert Posting.objects.values("fold_key").distinct().count() == 1


def test_postings_from_one_template_hide_no_copy():
    first = carried()
    for number in range(50):
        carried(text=from_template(number))
    sources = [a_source(), a_source()]
    texts = [AGENCY.replace("firemen", "fire fighters"), from_template(50)]
    entries = [ParsedEntry(guid="1", content=text) for text in texts]
    store([Document(each.pk, [entry], "", "", "", NOON) for each, entry in zip(sources, entries, strict=True)])
    assert Posting.objects.get(source=sources[0]).fold_key == first.fold_key


def test_few_postings_from_one_template_are_compared():
    source = a_source()
    entries = [ParsedEntry(guid=str(number), content=from_template(number)) for number in range(100)]
    for at in range(0, 100, 10):
        store([Document(source.pk, entries[at : at + 10], "", "", "", NOON)])
    held = Counter(band for bands in Fingerprint.objects.values_list("bands", flat=True) for band in bands)
    assert Posting.objects.count() == 100
    assert max(held.values()) == HOLDERS


def test_candidates_are_found_by_the_index_of_bands():
    """The planner expects most postings to have one of many bands, and would compare them all."""
    with connection.cursor() as cursor:
        cursor.execute(POSTINGS, [a_source().pk])
        cursor.execute(FINGERPRINTS)
        cursor.execute("ANALYZE postings_fingerprint, postings_posting")
        cursor.execute(f"EXPLAIN {CANDIDATES}", [list(range(170)), []])
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Bitmap Index Scan on fingerprint_bands" in plan


def test_a_teaser_is_folded_once_its_page_is_read():
    first, teaser = carried(), carried(text="The river left its banks.")
    assert first.fold_key != teaser.fold_key
    article = Article(title="Storm", text="", html=f"<p>{AGENCY}</p>", confidence=1.0, extractor="keen")
    assert fill(teaser.pk, PageOfPosting(teaser.url, article, b"", NOON))
    teaser.refresh_from_db()
    assert teaser.fold_key == first.fold_key


def test_fingerprints_of_old_postings_are_forgotten():
    carried(at=NOON - timedelta(days=5))
    kept = carried(text=OTHER)
    forget_old_fingerprints(NOON)
    assert list(Fingerprint.objects.values_list("posting_id", flat=True)) == [kept.pk]
