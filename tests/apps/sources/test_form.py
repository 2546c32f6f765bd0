"""The form of a source of any kind: what it tests, proposes, refuses and keeps."""

import json
import re
from html import unescape

import pytest
from django.urls import reverse

from apps.postings.models import Posting
from apps.retrieval.models import RobotsRules, Schedule
from apps.sources.models import Source
from tests.builders import a_schedule, a_source, a_user
from tests.web import HTML, Web, serving_pages

pytestmark = pytest.mark.django_db
PAGE = b"<html lang=en><title>The Bridge</title><ul class=news>" + b"".join(
    b"<li class=story><h2><a href='/%d'>Story number %d</a></h2><p>What happened, told at some length.</p>" % (n, n)
    for n in range(4)
)
DATA = json.dumps({"data": [{"head": f"Story number {n}", "url": f"/{n}"} for n in range(4)]}).encode()
PATHS = {"path_item": "//li", "path_title": ".//h2", "path_link": ".//a"}


@pytest.fixture
def web(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    pages = {"/": (HTML, PAGE), "/data": ("application/json", DATA)}
    pages |= {"/show": (HTML, b"<a class=new href=/7>7</a>"), "/7": (HTML, b"<h1>Seven</h1><audio src=/7.mp3>")}
    with serving_pages(pages) as web:
        yield web


@pytest.fixture
def staff(client):
    client.force_login(a_user(is_staff=True))
    return client


def sent(client, values: dict[str, object], address: str = "") -> str:
    return unescape(client.post(address or reverse("add_source"), {"weight": "1", **values}).text)


def typed(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="path_(\w+)"[^>]*?value="([^"]*)"|$', page))


def test_a_source_is_added_with_its_recipe_and_only_with_what_its_kind_needs(staff):
    form = {"url": "https://a.example/", "kind": "xpath", **PATHS, "path_more": "//audio", "expiry_days": "30"}
    sent(staff, form | {"stop_regex": "(?i)^breaking$", "full_text": "on"})
    source = Source.objects.get()
    assert source.recipe == {"item": "//li", "title": ".//h2", "link": ".//a"}
    assert (source.kind, source.expiry_days, source.full_text) == ("xpath", 30, True)
    assert source.stop_regex == "(?i)^breaking$"


def test_a_form_without_a_kind_is_that_of_a_feed(staff):
    sent(staff, {"url": "https://a.example/", **PATHS})
    assert (Source.objects.get().kind, Source.objects.get().recipe) == ("feed", {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path_item": "//li["}, "invalid expression at character 5, after “//li[”"),
        ({"path_title": ""}, "This field is required."),
        ({"kind": "regex", "path_item": "a**"}, "bad repetition operator: ** (at character 2)"),
        ({"kind": "json", "path_item": "a["}, "“[” at character 2 is not understood"),
        ({"kind": "index"}, "not one of the available choices"),
        ({"stop_regex": "(?=x)"}, "invalid perl operator"),
        ({"expiry_days": "-1"}, "greater than or equal to 0"),
    ],
)
def test_invalid_value_is_reported_beside_its_field(staff, change, message):
    page = sent(staff, {"url": "https://a.example/", "kind": "xpath", **PATHS} | change)
    [alert] = [each for each in re.findall(r'role="alert">(.*?)</div>', page, re.DOTALL) if message in each]
    field = next(name for name in change if name != "kind" or len(change) == 1)
    assert f'id="id_{field}_error"' in page.split(alert)[0][-60:]
    assert not Source.objects.exists()


def test_test_button_reads_the_form_and_stores_nothing(staff, web: Web):
    page = sent(staff, {"url": web.url("/"), "kind": "xpath", **PATHS, "test": "1"})
    assert "4 found" in page
    assert web.url("/3") in page
    assert "item: //li" in page
    for model in (Source, Posting, Schedule, RobotsRules):
        assert not model.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path_item": "//tr"}, "The item path “//tr” found nothing in the document."),
        ({"path_item": "//["}, "Item: It is not an XPath"),
        ({"url": "nowhere"}, "is not an address"),
        ({"url": "/404"}, "answered with status 404"),
    ],
)
def test_failed_test_shows_the_reason(staff, web: Web, change, message):
    form = {"url": web.url("/"), "kind": "xpath", **PATHS, "test": "1"} | change
    form["url"] = web.url(form["url"]) if form["url"].startswith("/") else form["url"]
    tested = sent(staff, form).split('id="tested"')[1]
    assert message in tested
    assert 'class="bad"' in tested


def test_a_podcast_on_pages_is_followed_by_its_test(staff, web: Web):
    form = {"url": web.url("/show"), "kind": "scrape", "path_more": "//a[@class='new']\n//audio", "path_title": "//h1"}
    page = sent(staff, form | {"test": "1"})
    assert f"leads to {web.url('/7')}" in page
    assert f"{web.url('/7.mp3')} (audio/mpeg)" in page
    assert web.requested_paths == ["/robots.txt", "/show", "/robots.txt", "/7"]


def test_a_site_needs_no_paths_and_its_test_shows_where_the_crawl_begins(staff, web: Web):
    page = sent(staff, {"url": web.url("/"), "kind": "site", "test": "1"})
    assert "4 links" in page
    assert "Story number 2" in page


@pytest.mark.parametrize(
    ("kind", "path", "item"), [("xpath", "/", " story "), ("json", "/data", "data"), ("", "/", "story")]
)
def test_paths_are_proposed_from_one_title_and_fill_the_form(staff, web: Web, kind, path, item):
    page = sent(staff, {"url": web.url(path), "kind": kind, "example": "story NUMBER 2", "propose": "1"})
    assert item in typed(page)["item"]
    assert "Story number 0 · Story number 1" in page
    assert re.search(rf'<option value="{kind or "xpath"}" selected', page)
    assert not Source.objects.exists()


def test_another_proposal_is_taken_into_the_form(staff, web: Web):
    use = json.dumps({"item": "//h2", "title": ".", "link": "a"})
    page = sent(staff, {"url": web.url("/"), "kind": "xpath", "title": "Mine", **PATHS, "use": use})
    assert (typed(page)["item"], typed(page)["title"]) == ("//h2", ".")
    assert 'value="Mine"' in page
    assert "item" not in typed(sent(staff, {"url": web.url("/"), "kind": "xpath", **PATHS, "use": "{"}))


def test_a_title_that_is_nowhere_yields_no_proposal(staff, web: Web):
    page = sent(staff, {"url": web.url("/"), "kind": "xpath", **PATHS, "example": "Something else", "propose": "1"})
    assert "is titled like “Something else”" in page
    assert typed(page)["item"] == "//li"  # as it was typed


def test_a_source_is_tested_as_it_is_read(staff, web: Web):
    recipe = {"item": "data", "title": "head", "link": "url"}
    source = a_source(url=web.url("/data"), kind="json", recipe=recipe, listed=True)
    page = staff.get(reverse("test_source"), {"source": source.pk}).text
    assert "4 found" in page
    assert "Story number 3" in page
    assert staff.get(reverse("test_source"), {"source": source.pk + 1}).status_code == 404


def test_a_change_of_how_a_source_is_read_makes_its_next_answer_count(staff):
    source = a_source(url="https://a.example/", kind="xpath", recipe={"item": "//li", "title": ".", "link": "."})
    schedule = a_schedule(source, etag='"a"', body_hash=b"x" * 16, requested_at=None)
    address = reverse("edit_source", args=[source.pk])
    same = {"url": source.url, "kind": "xpath", "path_item": "//li", "path_title": ".", "path_link": "."}
    sent(staff, same | {"always_retrieved": "on"}, address)
    schedule.refresh_from_db()
    assert schedule.etag == '"a"'
    sent(staff, same | {"path_title": ".//h2", "always_retrieved": "on"}, address)
    schedule.refresh_from_db()
    assert (schedule.etag, schedule.body_hash) == ("", b"")


def test_a_merge_is_shown_before_it_is_confirmed(staff):
    kept, merged = (a_source(title=title, listed=True) for title in ("The Bridge", "The Bridge, old"))
    address = reverse("merge_source", args=[merged.pk])
    assert f"?kept={kept.pk}" in staff.get(address, {"words": "bridge"}).text
    preview = staff.get(address, {"kept": kept.pk}).text
    assert "its address leads to the kept feed" in preview
    assert Source.objects.count() == 2
    assert staff.post(address, {"kept": kept.pk}).url == reverse("source", args=[kept.pk])
    assert Source.objects.get() == kept
    assert staff.post(address, {"kept": kept.pk}).status_code == 404


@pytest.mark.parametrize("kept", ["", "x", "99999999999999999999", "0"])
def test_merge_without_target_shows_the_form_again(staff, kept):
    merged = a_source(listed=True)
    page = staff.post(reverse("merge_source", args=[merged.pk]), {"kept": kept}).text
    assert "move to the feed that you choose" in page


def test_only_staff_merges(client):
    user = a_user()
    client.force_login(user)
    assert client.get(reverse("merge_source", args=[a_source().pk])).status_code == 403
