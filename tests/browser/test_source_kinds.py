"""A source of every kind, from its form to its end, as an admin has it in a browser and a server has it on loopback."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, expect

from apps.following.models import Follow
from apps.postings.models import Posting
from apps.sources.models import Source
from tests.browser.test_reading import with_and_without_scripts
from tests.builders import a_follow, a_source, a_user, some_postings
from tests.web import HTML, RSS, Web, serving_pages

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

STORIES = [f"Story number {number}" for number in range(3)]
FEED = "".join(
    f"<item><title>{title}</title><guid>{number}</guid><link>/{number}</link>"
    f"<enclosure url='/{number}.mp3' type='audio/mpeg'/></item>"
    for number, title in enumerate(STORIES)
)
LIST = "".join(f"<li class=story><h2><a href='/{number}'>{title}</a></h2>" for number, title in enumerate(STORIES))
PAGES = {
    "/feed": (RSS, f"<rss version='2.0'><channel><title>Feed</title>{FEED}</channel></rss>".encode()),
    "/data": (
        "application/json",
        json.dumps({"data": [{"head": title, "at": f"/{title[-1]}"} for title in STORIES]}).encode(),
    ),
    "/page": (HTML, f"<title>Page</title><ul>{LIST}</ul>".encode()),
    "/text": ("text/plain", "".join(f"* {title} <{number}>\n" for number, title in enumerate(STORIES)).encode()),
    "/show": (HTML, b"<title>Show</title><a class=new href=/episode>new</a>"),
    "/episode": (HTML, b"<h1>Story number 0</h1><audio src=/0.mp3></audio>"),
}


@dataclass(frozen=True)
class Kind:
    name: str
    path: str
    tested: str  # what the test of the form shows
    paths: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)  # an invalid path, and its error message
    hidden: str = "Pages to follow"  # the label of a field that the kind does not have


KINDS = [
    Kind("feed", "/feed", "3 found"),
    Kind(
        "json",
        "/data",
        "3 found",
        {"Item path": "data", "Title path": "head", "Link path": "at"},
        {"Item path": "data["},
    ),
    Kind(
        "xpath",
        "/page",
        "3 found",
        {"Item path": "//li", "Title path": ".//h2", "Link path": ".//a"},
        {"Item path": "//li["},
    ),
    Kind(
        "regex",
        "/text",
        "3 found",
        {"Item path": "\\n?\\* ", "Title path": "(.*) <", "Link path": "<(.*)>"},
        {"Title path": "(?=x)"},
    ),
    Kind("podcast", "/feed", "3 found", {"Link path": "enclosure"}, {"Link path": "//["}),
    Kind(
        "scrape",
        "/show",
        "1 found",
        {"Pages to follow": "//a[@class='new']\n//audio", "Title path": "//h1"},
        {"Title path": "//["},
        hidden="Channel path",
    ),
    Kind("site", "/page", "3 links", hidden="Item path"),
]


@pytest.fixture
def web() -> Iterator[Web]:
    with serving_pages(PAGES) as web:
        yield web


@pytest.fixture
def admin_page(page: Page, client, live_server, settings) -> Page:
    """A page whose person is signed in as one of the staff."""
    settings.RETRIEVAL_HOST_GAP = 0
    client.force_login(a_user(is_staff=True))
    session = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
    page.context.add_cookies([session])
    return page


def labelled(page: Page, label: str) -> Locator:
    return page.get_by_label(label, exact=True)


def fill(page: Page, paths: dict[str, str]) -> None:
    for label, path in paths.items():
        labelled(page, label).fill(path)


def save(page: Page) -> None:
    page.get_by_role("button", name="Save").last.click()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_source_of_any_kind_is_added_tested_and_edited(admin_page: Page, web: Web, kind: Kind):
    page = admin_page
    page.goto("/sources/add/")
    labelled(page, "Address").fill(web.url(kind.path))
    labelled(page, "Kind").select_option(kind.name)
    expect(labelled(page, kind.hidden)).to_be_hidden()
    if kind.wrong:
        fill(page, kind.paths | kind.wrong)
        save(page)
        [label] = kind.wrong
        alert = page.locator(".has-errors").filter(has_text=label).get_by_role("alert")
        expect(alert).to_contain_text(re.compile("not an XPath|not a path of keys|RE2 says"))
    fill(page, kind.paths)

    page.get_by_role("button", name="Test").click()
    expect(page.locator("#tested")).to_contain_text(kind.tested)
    expect(page.locator("#tested")).to_contain_text("Story number 0")
    assert not Source.objects.exists()

    labelled(page, "Title").fill("Named")
    fill(page, kind.paths)
    save(page)
    expect(page.get_by_role("heading", name="Named", exact=True)).to_be_visible()
    source = Source.objects.get()
    assert (source.kind, len(source.recipe)) == (kind.name, len(kind.paths))

    page.get_by_role("link", name="Edit", exact=True).click()
    labelled(page, "Days to keep articles").fill("9")
    save(page)
    expect(page.get_by_text("9 days, starred")).to_be_visible()
    source.refresh_from_db()
    assert (source.kind, len(source.recipe)) == (kind.name, len(kind.paths))


def test_a_source_is_paused_merged_and_deleted(admin_page: Page):
    page, source = admin_page, a_source(title="Named", listed=True)
    page.goto(f"/sources/{source.pk}/")
    page.get_by_role("button", name="Pause Named").click()
    expect(page.get_by_text("Paused by an administrator")).to_be_visible()

    other = a_source(title="Former", listed=True)
    some_postings(2, other)
    follow = a_follow(source=other)
    page.goto(f"/sources/{other.pk}/merge/")
    page.get_by_label("Search feeds").fill("named")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Merge into Named").click()
    expect(page.get_by_text("1 move, with their folders")).to_be_visible()
    page.get_by_role("button", name="Merge permanently").click()
    expect(page.get_by_role("heading", name="Named", exact=True)).to_be_visible()
    assert Follow.objects.get().pk == follow.pk
    assert Posting.objects.filter(source=source).count() == 2

    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_text("Named deleted.")).to_be_visible()
    assert not Source.objects.exists()


@with_and_without_scripts
def test_paths_are_proposed_from_one_title(admin_page: Page, web: Web):
    page = admin_page
    page.goto("/sources/add/")
    labelled(page, "Address").fill(web.url("/page"))
    labelled(page, "Kind").select_option("xpath")
    labelled(page, "The title of one item").fill("story number 1")
    page.get_by_role("button", name="Propose paths").click()
    expect(page.get_by_text("The most likely paths are filled in.")).to_be_visible()
    expect(labelled(page, "Item path")).to_have_value(re.compile("story"))
    page.get_by_role("button", name="Test").click()
    expect(page.locator("#tested")).to_contain_text("3 found")
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    save(page)
    expect(page.get_by_text("Web page, items by XPath")).to_be_visible()
