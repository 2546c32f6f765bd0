"""What visitors see first."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from apps.reading.pages.news import DELAYS
from apps.sources.actions.editing import STARTER_EDITION, retrieve_starter_edition
from apps.sources.formats.opml import OpmlDocument, Subscription
from apps.sources.models import AuditEntry, Source
from apps.stories import actions as stories
from apps.stories.actions import consuming
from tests.builders import a_posting, a_source, some_postings

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
CHINESE = {"Accept-Language": "zh-CN"}


@pytest.fixture(autouse=True)
def english_again():
    yield
    translation.activate("en")


def titles_of_cards(page: str) -> list[str]:
    return re.findall(r'id="card-\d+"[^>]*>([^<]*)<', page)


def pictured(number: int, **values):
    return a_posting(title=f"Picture {number}", image_url=f"https://site.example/{number}.png", **values)


def test_cards_show_a_story_first_and_then_articles_with_pictures_of_several_feeds(client):
    now, consuming._memory = timezone.now(), None
    for image, text in (
        ("", "Boats brought people to safety after the storm flooded streets of Lisbon."),
        ("https://site.example/storm.png", "Schools stay closed in Lisbon: a storm floods streets, said the mayor."),
    ):
        title, source = "Storm floods streets of Lisbon", a_source(listed=True)
        a_posting(source, title=title, text=text, image_url=image, published_at=now, language="en")
    while stories.consuming.consume():
        pass
    busy = a_source(listed=True)
    for number in range(3):
        pictured(number, source=busy, published_at=now - timedelta(minutes=number), language="en")
    pictured(7, published_at=now - timedelta(hours=1), language="en")
    a_posting(title="Without a picture", published_at=now, language="en")
    page = client.get("/").text
    assert titles_of_cards(page) == ["Storm floods streets of Lisbon", "Picture 0", "Picture 7"]
    large = page.split("front-card is-large")[1].split("</article>")[0]
    assert 'class="front-picture"' in large  # of the other report
    assert "2 articles from 2 feeds" in large
    assert "Now, from 5 feeds" in page
    assert "Without a picture" in page.split('id="newest"')[1]


def test_news_is_in_the_language_of_the_visitor_as_far_as_there_is_enough(client):
    for language, how_many in (("en-GB", 6), ("zh-Hans", 6), ("de", 2)):
        for number in range(how_many):
            pictured(number, language=language, source=a_source(listed=True, title=f"{language} {number}"))
    chinese, english, german = (
        client.get("/", headers={"Accept-Language": code}).text for code in ("zh-CN", "en", "de")
    )
    for page, shown in ((chinese, "zh-Hans"), (english, "en-GB"), (german, "en-GB")):  # the interface is not in German
        assert {language for language in ("en-GB", "zh-Hans", "de") if f"{language} 0" in page} == {shown}
    Source.objects.filter(title__startswith="zh-Hans").update(listed=False)
    assert "en-GB 0" in client.get("/", headers=CHINESE).text


def test_its_queries_do_not_grow(client):
    costs = []
    for _ in range(2):
        for number in range(12):
            pictured(number, language="en", source=a_source(listed=True, category=f"Category {number % 3}"))
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/").status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 5


RATED = re.compile(r"^\| ([^|]+) \| (\d+) \|$", re.MULTILINE)


def test_delays_on_the_first_page_are_those_of_the_benchmarks(client):
    table = (ROOT / "docs" / "benchmarks.md").read_text("utf-8").split("-->\n| policy | average delay")[1]
    measured = {name.split(":")[0].split(",")[0]: minutes for name, minutes in RATED.findall(table)[:6]}
    ours, adaptive, uniform = (minutes for _, minutes in DELAYS)
    assert (ours, adaptive, uniform) == tuple(int(measured[n]) for n in ("Wirebeat", "Miniflux", "equal intervals"))
    page = client.get("/").text
    assert re.findall(r'<rect width="(\d+)"', page) == [str(ours), str(adaptive), str(uniform)]


def test_the_pictures_of_the_product_are_light(client):
    page = client.get("/").text
    for name in ("reader-light.webp", "reader-dark.webp"):
        assert f"images/{name}" in page
        assert (ROOT / "static" / "images" / name).stat().st_size <= 60_000  # bytes


# --- the starter edition ----------------------------------------------------------------------------------------------
def an_edition(*addresses: str) -> OpmlDocument:
    folders = (("World",), ("Starter edition",))
    return OpmlDocument(subscriptions=tuple(Subscription(address, folders=folders) for address in addresses))


def test_feeds_of_the_starter_edition_are_checked_without_followers_unless_that_is_switched_off():
    edition = an_edition("https://one.example/", "https://two.example/")
    for subscription in edition.subscriptions:
        a_source(url=subscription.xml_url, listed=True)
    a_source(url="https://other.example/", listed=True)
    assert retrieve_starter_edition(edition, retrieved=True) == 2
    assert retrieve_starter_edition(edition, retrieved=True) == 0
    assert set(Source.objects.filter(always_retrieved=True).values_list("url", flat=True)) == {
        "https://one.example/",
        "https://two.example/",
    }
    assert {entry.place for entry in AuditEntry.objects.all()} == {STARTER_EDITION.place}
    Source.objects.filter(url="https://two.example/").update(url="https://two.example/moved")
    assert retrieve_starter_edition(edition, retrieved=False) == 2
    assert not Source.objects.filter(always_retrieved=True).exists()


@pytest.mark.parametrize("decided", [True, False])
def test_decisions_of_an_admin_about_a_feed_of_the_starter_edition_are_kept(decided):
    source = a_source(url="https://one.example/", listed=True, always_retrieved=decided)
    AuditEntry.objects.create(what=AuditEntry.What.ALWAYS, source_id=source.pk, place="the source")
    for wanted in (True, False):
        assert retrieve_starter_edition(an_edition(source.url), retrieved=wanted) == 0
    assert Source.objects.get().always_retrieved is decided


# --- closed installations ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sign_up", "edition", "is_closed"),
    [("closed", False, True), ("closed", True, False), ("invited", False, False)],
)
def test_where_nothing_is_meant_for_visitors_they_sign_in(client, settings, sign_up, edition, is_closed):
    settings.SIGN_UP, settings.STARTER_EDITION = sign_up, edition
    response = client.get("/")
    assert (response.status_code, response.headers.get("Location")) == (
        (302, reverse("account_login")) if is_closed else (200, None)
    )


def test_public_articles_are_shown_where_sign_up_is_closed(client, settings):
    settings.SIGN_UP, settings.STARTER_EDITION = "closed", False
    some_postings(2)
    page = client.get("/").text
    assert "Start reading" not in page
    assert reverse("account_signup") not in page


def test_the_page_is_cached_by_its_browser_alone(client):
    response = client.get("/")
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert "Cookie" in response.headers["Vary"]
    assert settings.STARTER_EDITION
