"""Hostile markup that went through our cleaning, on real pages in a real browser: nothing of it runs."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.sources.formats.feed import ParsedEntry
from tests.builders import NOON, a_posting, a_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAYLOADS = Path(__file__).parents[1] / "algorithms" / "hostile"
A_PAGE = 8  # payloads
DANGEROUS = "script:not([src^='/static/']), iframe, object, embed, form[action]:not([action^='/']), base, style"


def payloads() -> list[str]:
    return [line for file in sorted(PAYLOADS.glob("*.txt")) for line in file.read_text("utf-8").splitlines() if line]


def test_no_payload_runs_on_the_page_of_a_posting(page: Page):
    texts = payloads()
    assert len(texts) > 60
    source = a_source(listed=True, title="<script>alert('source')</script>")
    entries = [
        ParsedEntry(
            guid=f"{number}", title=text, content=f"<p>before</p>{text}<p>after</p>", authors=(text,), link=text
        )
        for number, text in enumerate(texts)
    ]
    store([Document(source.pk, entries, "https://news.example/", "", "en", NOON)])
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    pictured, others = [], []
    stored = list(Posting.objects.order_by("pk"))
    for at in range(0, len(stored), A_PAGE):
        postings = stored[at : at + A_PAGE]
        joined = a_posting(
            title=" ".join(posting.title for posting in postings),
            author=" ".join(posting.author for posting in postings),
            html="".join(posting.html for posting in postings),  # each was cleaned by itself, and is closed
            url=postings[0].url,
        )
        (pictured if "<img" in joined.html else others).append(f"/posting/{joined.pk}/")
    assert pictured
    # The sites in the payloads do not exist, neither for the browser nor for the proxy of pictures. Only pages with
    # pictures are routed, as that switches the browser's cache off; on others, a request elsewhere is an error.
    elsewhere = re.compile(r"^(?!http://localhost:\d+/(?!image/))")
    page.context.route(elsewhere, lambda route: route.fulfill(body=""))
    for path in ["/", f"/river/source/{source.pk}/", *pictured]:
        assert_tame(page, path)
    page.context.unroute(elsewhere)
    for path in others:
        assert_tame(page, path)
    assert dialogs == []


def assert_tame(page: Page, path: str) -> None:
    page.goto(path)
    assert page.locator(DANGEROUS).count() == 0, path
    handlers = page.evaluate(
        "() => [...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
        ".filter(a => a.name.startsWith('on') || /^\\s*(javascript|vbscript|data:text)/i.test(a.value))"
        ".map(a => a.name)"
    )
    assert handlers == [], path
