"""Addresses that a browser would run or open on its reader's machine stand on no page, whatever is stored."""

import re
from html import unescape
from itertools import chain

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.following import actions
from apps.search.actions.reindexing import consume
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from tests.builders import NOON, a_follow, a_mark, a_posting, a_schedule, a_source, a_user

HOSTILE = [
    "javascript:alert(1)//",
    " JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "feed:javascript:alert(1)",
]
ADDRESS = re.compile(r'\b(?:href|src|poster|action|data-[a-z]+|hx-get|url|htmlUrl)\s*=\s*"([^"]*)"')
HARMLESS = re.compile(r"(?:https?://|/|\?|#|mailto:\?|$|[\w.,-]+$)")

pytestmark = pytest.mark.django_db


def hostile_world(user, address):
    source = a_source(listed=True, site_url=address, title="Source")
    a_follow(user, source)
    a_schedule(source)
    kinds = ("audio/mpeg", "video/mp4", "application/pdf", "")
    posting = a_posting(
        source,
        title="Wolves",
        url=address,
        comments_url=address,
        image_url=address,
        author=address,
        guid=address,
        text="Wolves came to town.",
        enclosures=[{"url": address, "media_type": kind, "length": 1, "duration": "", "title": ""} for kind in kinds],
        published_at=timezone.now(),
    )
    a_mark(user, posting, starred_at=NOON, read=False)
    actions.marks.tag(user, [posting.pk], "tag", NOON)
    actions.marks.write_note(user, posting.pk, "note", now=NOON)
    actions.marks.remember_read(user, [posting.pk], now=NOON)
    actions.marks.save_position(user, posting.pk, address, 60, now=NOON)
    return posting


def lists(user):
    saved = save_search(user, "wolves", "wolves", order=SavedSearch.Order.NEWEST, now=NOON)
    yield from (
        "/",
        "/river/",
        "/river/?view=cards",
        "/river/starred/",
        "/river/?q=wolves",
        "/search/?q=wolves",
        "/for-you/",
    )
    yield from (reverse(name) for name in ("history", "notes", "tags", "shares", "catalogue", "stories", "opml_export"))
    yield from (reverse("search_feed", args=[saved.secret, kind]) for kind in ("rss", "atom", "json"))


def pages_of(user, posting):
    page = reverse("posting", args=[posting.pk])
    yield from (page, f"{page}?mode=reading", reverse("menu", args=[posting.pk]))
    yield reverse("shared", args=[actions.marks.share(user, posting.pk, now=NOON).secret])
    yield from (reverse(name, args=[posting.source_id]) for name in ("river_source", "source"))


def addresses(answer):
    return [unescape(found) for found in ADDRESS.findall(answer.text)]


@pytest.mark.parametrize(
    "images",
    [
        User.Images.DIRECT,  # whose addresses stand on pages as they are
        pytest.param(User.Images.PROXIED, marks=pytest.mark.trial),
        pytest.param(User.Images.BLOCKED, marks=pytest.mark.trial),
    ],
)
def test_no_page_leads_where_a_hostile_address_wants(client, images):
    user = a_user(images=images)
    postings = [hostile_world(user, address) for address in HOSTILE]
    consume()
    client.force_login(user)
    found_in_search = 0
    for place in chain(lists(user), *(pages_of(user, posting) for posting in postings)):
        answer = client.get(place, follow=True)
        assert answer.status_code == 200, place
        assert [found for found in addresses(answer) if not HARMLESS.match(found)] == [], place
        assert not re.search(r'(?:<link>|"url": ")(?!https?://)', answer.text), place
        found_in_search += place.startswith("/search/?") and answer.text.count("data-posting")
    assert found_in_search == len(HOSTILE)


def test_web_addresses_are_linked(client):
    user = a_user()
    posting = hostile_world(user, "https://good.example/1")
    client.force_login(user)
    assert addresses(client.get(reverse("posting", args=[posting.pk]))).count("https://good.example/1") >= 6
