"""Postings are stored once, edits are kept, odd dates are mended."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from apps.postings.actions import EDITIONS_KEPT, Document, Stored, store
from apps.postings.models import Edition, Posting
from apps.postings.queries import boilerplate
from apps.sources.formats.dates import parse_date
from apps.sources.formats.feed import Enclosure, ParsedEntry
from tests.builders import a_source

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def source():
    return a_source()


def stored(source, *entries: ParsedEntry, received_at: datetime = NOON) -> Stored:
    [result] = store(
        [Document(source.pk, entries, "https://news.example/feed", "https://news.example/", "en", received_at)]
    )
    return result


def an_entry(number: int = 1, **values) -> ParsedEntry:
    given = {
        "guid": f"guid-{number}",
        "link": f"https://news.example/{number}",
        "title": f"Title {number}",
        "content": f"<p>Words {number}</p>",
        "published": NOON - timedelta(hours=1),
    }
    return ParsedEntry(**given | values)


def test_the_same_document_twice_stores_each_posting_once(source):
    entries = [an_entry(number) for number in range(30)]
    assert stored(source, *entries) == Stored(new=30, edited=0, published=(NOON - timedelta(hours=1),) * 30)
    assert stored(source, *entries) == Stored(new=0, edited=0)
    assert Posting.objects.count() == 30


def test_two_sources_may_publish_the_same_guid():
    first, second = a_source(), a_source()
    documents = [Document(each.pk, [an_entry()], "", "", "", NOON) for each in (first, second)]
    assert [result.new for result in store(documents)] == [1, 1]


def test_only_trusted_dates_are_returned(source):
    entries = [an_entry(1), an_entry(2, published=None), an_entry(3, published=NOON + timedelta(days=30))]
    assert stored(source, *entries) == Stored(new=3, edited=0, published=(NOON - timedelta(hours=1),))


def test_the_offset_that_the_publisher_writes_is_kept(source):
    east = NOON.astimezone(timezone(timedelta(hours=5, minutes=30))) - timedelta(hours=1)
    stored(source, an_entry(1, published=east), an_entry(2), an_entry(3, published=None))
    assert list(Posting.objects.order_by("guid").values_list("utc_offset", flat=True)) == [330, None, None]
    assert Posting.objects.get(guid="guid-1").published_at == NOON - timedelta(hours=1)


def test_edit_stores_the_offset_of_the_kept_date_only(source):
    published, east = NOON - timedelta(hours=1), timezone(timedelta(hours=2))
    for number in (1, 2):
        stored(source, an_entry(number))
    stored(source, an_entry(1, title="Edited", published=published.astimezone(east)))
    stored(source, an_entry(2, title="Edited", published=NOON.astimezone(east)))
    assert list(Posting.objects.order_by("guid").values_list("utc_offset", flat=True)) == [120, None]
    assert set(Posting.objects.values_list("claimed_at", flat=True)) == {published}


@pytest.mark.parametrize(
    "written", ["2026-01-01T12:00:00+23:00", "Thu, 01 Jan 2026 12:00:00 -2359", "2026-01-01T12:00:00+05:30:15.000001"]
)
def test_an_offset_that_no_place_has_keeps_no_document_from_being_stored(source, written):
    date = parse_date(written)
    stored(source, an_entry(published=date))
    posting = Posting.objects.get()
    assert (posting.claimed_at, posting.utc_offset) == (date, None)


def test_all_fields_of_an_entry_are_stored(source):
    enclosure = Enclosure("https://news.example/1.mp3", "audio/mpeg", 1_000, 61, "Listen")
    stored(
        source,
        an_entry(
            authors=("Ann", "Bob"),
            categories=("World", "Zürich, “Stadt”"),
            image_url="https://news.example/1.png",
            comments_url="https://news.example/1#comments",
            enclosures=(enclosure,),
            language="de",
        ),
    )
    posting = Posting.objects.get()
    assert posting.author == "Ann, Bob"
    assert posting.categories == ["World", "Zürich, “Stadt”"]
    assert posting.enclosures == [
        {"url": enclosure.url, "media_type": "audio/mpeg", "length": 1_000, "duration": 61, "title": "Listen"}
    ]
    assert (posting.language, posting.guid, posting.text) == ("de", "guid-1", "Words 1")
    assert (posting.published_at, posting.retrieved_at) == (NOON - timedelta(hours=1), NOON)


def test_markup_is_stored_safe_and_links_are_made_absolute(source):
    stored(source, an_entry(content='<p onclick="x()"><script>x()</script><a href="/more?utm_source=rss">more</a></p>'))
    html = Posting.objects.get().html
    assert "script" not in html
    assert "onclick" not in html
    assert 'href="https://news.example/more"' in html


def test_the_link_of_a_posting_loses_its_tracking_parameters_and_still_identifies_it(source):
    tracked = {"guid": "", "link": "https://news.example/a?utm_source=rss&id=7"}
    stored(source, an_entry(**tracked))
    assert Posting.objects.get().url == "https://news.example/a?id=7"
    stored(source, an_entry(**tracked, content="<p>Other words</p>"))
    assert (posting := Posting.objects.get()).url == "https://news.example/a?id=7"
    assert posting.text == "Other words"


def test_an_edit_keeps_the_former_words(source):
    stored(source, an_entry(title="Ten hurt"))
    later = NOON + timedelta(hours=2)
    assert stored(source, an_entry(title="Twelve hurt"), received_at=later) == Stored(new=0, edited=1)
    posting, edition = Posting.objects.get(), Edition.objects.get()
    assert (posting.title, posting.edited_at, posting.retrieved_at) == ("Twelve hurt", later, NOON)
    assert (edition.title, edition.replaced_at) == ("Ten hurt", later)


def test_a_change_of_markup_alone_is_no_edit(source):
    stored(source, an_entry(content='<p>Words</p><img src="https://pixel.example/1.gif" width="1" height="1">'))
    assert stored(
        source, an_entry(content='<p>Words</p><img src="https://pixel.example/2.gif" width="1" height="1">')
    ) == (Stored(new=0, edited=0))
    assert not Edition.objects.exists()


def test_a_posting_edited_again_and_again_keeps_its_latest_editions(source):
    for number in range(EDITIONS_KEPT + 5):
        stored(source, an_entry(title=f"Version {number}"), received_at=NOON + timedelta(minutes=number))
    titles = list(Edition.objects.order_by("id").values_list("title", flat=True))
    assert titles == [f"Version {number}" for number in range(4, EDITIONS_KEPT + 4)]


def test_a_new_guid_with_the_same_link_is_the_same_posting(source):
    stored(source, an_entry(guid="one"))
    stored(source, an_entry(guid="two"))
    stored(source, an_entry(guid="three"))
    assert Posting.objects.count() == 1


@pytest.mark.parametrize("claimed", [None, NOON + timedelta(days=400), datetime(1970, 1, 1, tzinfo=UTC)])
def test_an_impossible_date_becomes_the_time_of_the_retrieval(source, claimed):
    stored(source, an_entry(published=claimed))
    posting = Posting.objects.get()
    assert posting.published_at == NOON
    assert posting.claimed_at == claimed


def test_entries_without_dates_keep_the_order_of_their_document(source):
    stored(source, *(an_entry(number, published=None) for number in range(5)))
    newest_first = Posting.objects.order_by("-published_at").values_list("guid", flat=True)
    assert list(newest_first) == [f"guid-{number}" for number in range(5)]


def test_storing_takes_as_many_queries_for_many_documents_as_for_one(django_assert_num_queries):
    sources = [a_source() for _ in range(10)]
    for number, some in enumerate((sources[:1], sources)):
        documents = [
            Document(each.pk, [an_entry(number * 100 + i) for i in range(20)], "", "", "", NOON) for each in some
        ]
        boilerplate._common.cache_clear()
        # Savepoint, known, boilerplate of these sources and of several ones, candidates for copies, numbers, insert,
        # fingerprints, boilerplate, release.
        with django_assert_num_queries(10):
            store(documents)
