"""How long articles are kept: by feed, by category and by default, and within a quota."""

from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.db import connection
from django.test import Client
from django.urls import reverse

from apps.dashboard.pages.storage import storage_page
from apps.database.sizes import sizes
from apps.documents import actions as documents
from apps.documents.queries import DocumentLost, kept, read
from apps.following.actions.marks import write_note
from apps.following.models import Mark
from apps.postings.models import Posting
from apps.retrieval.actions import expiry, forget_expired
from apps.retrieval.queries import retention
from apps.search.actions import reindexing
from apps.sources.actions.curating import PROGRAM, Curation, curate, set_retention
from apps.sources.models import AuditEntry, Source
from tests.builders import NOON, a_mark, a_posting, a_profile, a_source, a_user, an_edition

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def a_dated(source, days: float, **values) -> Posting:
    at = NOON - days * DAY
    return a_posting(source, **{"published_at": at, "claimed_at": at} | values)


def left() -> set[int]:
    return set(Posting.objects.values_list("pk", flat=True))


def test_expired_postings_are_deleted_unless_starred():
    podcast, paper = a_source(expiry_days=7), a_source()
    new, starred, of_paper = a_dated(podcast, 6.9), a_dated(podcast, 30), a_dated(paper, 300)
    a_mark(a_user(), starred, starred_at=NOON)
    read, edited = a_dated(podcast, 7.1), a_dated(podcast, 8)
    a_mark(a_user(), read, read=True)
    an_edition(edited)
    assert forget_expired(now=NOON) == 2
    assert left() == {new.pk, starred.pk, of_paper.pk}
    assert Mark.objects.count() == 1
    assert forget_expired(now=NOON) == 0


def test_annotated_postings_do_not_expire():
    source = a_source(expiry_days=7)
    noted = a_dated(source, 30)
    a_dated(source, 31)
    write_note(a_user(), noted.pk, "To be kept", now=NOON)
    assert forget_expired(now=NOON) == 1
    assert left() == {noted.pk}


def test_many_go_in_batches(monkeypatch):
    monkeypatch.setattr(expiry, "BATCH", 2)
    for _ in range(2):
        source = a_source(expiry_days=1)
        starred = a_dated(source, 3)
        a_mark(a_user(), starred, starred_at=NOON)
        for days in range(2, 9):
            a_dated(source, days)
    assert forget_expired(now=NOON) == 14
    assert len(left()) == 2


def test_those_without_a_date_stay_while_their_source_may_still_show_them():
    source = a_source(expiry_days=1)
    a_profile(source, window=2)
    undated = [a_posting(source, published_at=NOON - days * DAY) for days in (3, 4, 5, 6)]
    a_dated(source, 9)
    assert forget_expired(now=NOON) == 3
    assert left() == {undated[0].pk, undated[1].pk}


# --- rules ------------------------------------------------------------------------------------------------------------
def test_a_feed_precedes_its_category_which_precedes_the_default():
    set_retention("", 100, by=PROGRAM)
    set_retention("Sport", 10, by=PROGRAM)
    set_retention("Law", 0, by=PROGRAM)
    rules = {"own": (5, "Sport"), "forever": (0, "Sport"), "category": (None, "Sport"), "law": (None, "Law")}
    rules |= {"other": (None, "Art"), "none": (None, "")}
    for title, (days, category) in rules.items():
        source = a_source(title=title, expiry_days=days, category=category)
        for age in (6, 11, 101):
            a_dated(source, age, title=f"{title} {age}")
    forget_expired(now=NOON)
    assert set(Posting.objects.values_list("title", flat=True)) == {
        *(f"forever {age}" for age in (6, 11, 101)),
        "category 6",
        *(f"law {age}" for age in (6, 11, 101)),
        *(f"{title} {age}" for title in ("other", "none") for age in (6, 11)),
    }


def test_without_rules_nothing_expires():
    a_dated(a_source(), 10_000)
    assert forget_expired(now=NOON) == 0


def test_many_feeds_get_a_rule_and_lose_it_again():
    first, second = a_source(expiry_days=3), a_source()
    assert curate([first.pk, second.pk], Curation(expiry_days=30), by=PROGRAM) == [first.pk, second.pk]
    assert curate([first.pk], Curation(expiry_days=-1), by=PROGRAM) == [first.pk]
    assert list(Source.objects.order_by("pk").values_list("expiry_days", flat=True)) == [None, 30]
    changes = AuditEntry.objects.order_by("pk").values_list("what", "before", "after")
    assert list(changes) == [("expiry_days", "3", "30"), ("expiry_days", "", "30"), ("expiry_days", "30", "")]


def test_staff_sets_rules_on_the_page_of_storage(client: Client):
    address = reverse("dashboard_storage")
    client.force_login(a_user())
    assert client.post(address, {"category": "", "days": "30"}).status_code == 403
    client.force_login(a_user(is_staff=True))
    assert "articles are kept forever" in client.get(address).text
    assert "greater than or equal to 0" in client.post(address, {"days": "-1"}).text
    client.post(address, {"category": "", "days": "30"})
    page = client.post(address, {"category": "Law", "days": "0"}, follow=True).text
    assert "All others" in page
    assert "forever</td>" in page
    assert AuditEntry.objects.filter(what="expiry_days").count() == 2
    client.post(address, {"category": "Law", "days": ""})
    assert client.get(address).context["page"]["retentions"] == {"": 30}


def test_staff_sets_the_rule_of_many_feeds(client: Client):
    client.force_login(a_user(is_staff=True))
    source = a_source()
    for typed, expected in (("14", 14), ("", 14), ("0", 0), ("-", None)):
        client.post(reverse("curate"), {"chosen": source.pk, "do": "change", "expiry_days": typed, "why": "room"})
        source.refresh_from_db()
        assert source.expiry_days == expected
    page = client.post(reverse("curate"), {"chosen": source.pk, "do": "change", "expiry_days": "soon"})
    assert page.context["form"].errors["expiry_days"]


# --- what goes with a posting -----------------------------------------------------------------------------------------
def test_pages_of_deleted_postings_go_unless_another_posting_has_them(tmp_path, settings):
    settings.STORAGES = settings.STORAGES | {
        "documents": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    }
    assert storages["documents"]
    source = a_source(expiry_days=7)

    def page(body):
        return documents.keep(body, url="https://a.example/", content_type="text/html", now=NOON)

    lost, shared = page(b"lost"), page(b"shared")
    a_dated(source, 8, document=lost)
    a_dated(source, 9, document=shared)
    a_dated(source, 1, document=shared)
    assert forget_expired(now=NOON) == 2
    assert documents.forget_expired(now=NOON) == 1
    assert read(shared).body == b"shared"
    with pytest.raises(DocumentLost):
        read(lost)
    assert kept().count == 1


def test_no_search_finds_an_expired_posting(client: Client):
    source = a_source(expiry_days=7, listed=True)
    a_dated(source, 8, title="Zeppelins over Lisbon")
    a_dated(source, 6, title="Zeppelins over Porto")
    reindexing.consume()
    page = client.get(reverse("search"), {"q": "zeppelins"}).text
    assert "Porto" in page
    assert "Lisbon" in page
    forget_expired(now=NOON)
    reindexing.consume()
    page = client.get(reverse("search"), {"q": "zeppelins"}).text
    assert "Porto" in page
    assert "Lisbon" not in page


# --- quota ------------------------------------------------------------------------------------------------------------
def stored(source, count: int) -> list[int]:
    """Postings of some kilobytes each, the oldest first, of which Postgres knows the number."""
    words = " ".join(f"{number:x}" for number in range(9_000, 10_000))
    made = [a_dated(source, count - number, text=f"{number} {words}").pk for number in range(count)]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE postings_posting")
    return made


@pytest.fixture
def live(monkeypatch):
    """The present number of postings: Postgres counts them when a transaction ends, and those of tests do not."""
    monkeypatch.setattr(
        retention,
        "_LIVE",
        retention._LIVE.replace(
            "greatest(0, pg_stat_get_live_tuples('postings_posting'::regclass))",
            "(SELECT count(*) FROM postings_posting)",
        ),
    )


@pytest.mark.usefixtures("live")
def test_beyond_the_quota_the_oldest_go_and_a_second_run_deletes_no_more(settings):
    made = stored(a_source(), 400)
    a_mark(a_user(), Posting.objects.get(pk=made[0]), starred_at=NOON)
    used, per_posting = retention.live_bytes(sizes())
    settings.QUOTA_BYTES = int(used + kept().bytes - 100 * per_posting)
    assert forget_expired(now=NOON) == pytest.approx(100, abs=10)
    assert left() >= {made[0], *made[115:]}
    assert not left() & set(made[1:90])
    assert forget_expired(now=NOON) <= 10  # files do not shrink, and the first run filled outboxes


@pytest.mark.usefixtures("live")
def test_postings_that_a_source_still_shows_are_kept_regardless_of_the_quota(settings):
    source = a_source()
    a_profile(source, window=20)
    made = stored(source, 50)
    settings.QUOTA_BYTES = 1
    forget_expired(now=NOON)
    assert left() == set(made[-20:])


# --- forecast ---------------------------------------------------------------------------------------------------------
def at_the_rate_of(source, per_day: int, first: int, last: int) -> None:
    for day in range(first, last):
        for number in range(per_day):
            a_dated(source, -day - (number + 0.5) / per_day)


def test_the_forecast_is_what_will_be_stored_within_a_tenth():
    brief, long, forever = a_source(expiry_days=5), a_source(category="News"), a_source()
    set_retention("News", 40, by=PROGRAM)
    kinds = ((brief, 8), (long, 4), (forever, 2))
    for source, per_day in kinds:
        at_the_rate_of(source, per_day, -30, 0)
    forget_expired(now=NOON)
    expected = retention.postings_expected(NOON, (0, 30, 90))
    assert expected[0] == Posting.objects.count()
    for days in (30, 90):
        for source, per_day in kinds:
            at_the_rate_of(source, per_day, days - 30 if days == 30 else 30, days)
        forget_expired(now=NOON + days * DAY)
        assert expected[days] == pytest.approx(Posting.objects.count(), rel=0.1)


def test_the_page_shows_a_forecast_within_a_fixed_number_of_queries(django_assert_max_num_queries):
    source = a_source()
    at_the_rate_of(source, 3, -20, 0)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE postings_posting")
    with django_assert_max_num_queries(50):
        shown = storage_page(NOON)
    assert [each.days for each in shown["forecast"]] == [30, 90, 365]
    assert shown["forecast"][0].postings == pytest.approx(150, rel=0.1)
    assert shown["forecast"][0].database > shown["load"].size
