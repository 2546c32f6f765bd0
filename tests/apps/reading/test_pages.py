"""Pages cost a fixed number of queries, and drawing them costs none."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import User
from apps.dashboard.pages.sources import source_page, sources_page
from apps.dashboard.queries import SourceFilter
from apps.following.queries import Scope
from apps.postings.queries import Cursor
from apps.reading.pages.following import catalogue_page
from apps.reading.pages.news import home_page
from apps.reading.pages.posting import posting_page
from apps.reading.pages.river import LENGTH, ListOptions, river_page
from apps.web.pages.sidebar import sidebar
from tests.builders import (
    NOON,
    a_folder,
    a_follow,
    a_posting,
    a_retrieval,
    a_schedule,
    a_source,
    a_user,
    an_edition,
    some_postings,
)

pytestmark = pytest.mark.django_db
NEWEST = ListOptions(unread_only=False, order=User.Order.NEWEST, start=None)
ADDRESSES = ["river", "river_starred", "catalogue", "sources", "folders"]


def grow(user: User, how_many: int) -> None:
    for _ in range(how_many):
        source = a_source(listed=True, category="News", language="en")
        a_follow(user, source, folders=(a_folder(user),))
        a_posting(source)
        a_schedule(source)


@pytest.mark.parametrize("name", ADDRESSES)
def test_queries_do_not_grow_with_rows(name, client):
    user = a_user(is_staff=True)
    client.force_login(user)
    costs = []
    for _ in range(2):
        grow(user, 20)
        client.get(reverse(name))  # what is cached once for all is not counted
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse(name)).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_the_front_page_of_postings_alone_costs_five_queries(django_assert_num_queries, client):
    some_postings(40)
    with django_assert_num_queries(5):  # for trends, stories, sections, which postings, and these
        assert "Posting" in client.get("/").text


def test_a_sources_own_page_does_not_cost_more_with_a_long_log(client):
    user, source = a_user(is_staff=True), a_source()
    client.force_login(user)
    costs = []
    for _ in range(2):
        for _ in range(10):
            a_retrieval(source)
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("source", args=[source.pk]))
        costs.append(len(queries))
    assert costs[0] == costs[1]


def whole_pages(user: User):
    source = a_source(listed=True, category="News")
    a_follow(user, source, folders=(a_folder(user),))
    a_schedule(source)
    a_retrieval(source)
    postings = some_postings(LENGTH + 1, source)
    an_edition(postings[1])
    yield "reading/home.html", home_page(NOON)
    yield "reading/river.html", river_page(user, Scope("all"), "All", NEWEST, NOON)
    yield "reading/posting.html", posting_page(user, postings[1].pk)
    yield "reading/catalogue.html", catalogue_page(user, words="", category="", language="", number="1", now=NOON)
    yield "dashboard/sources.html", sources_page(SourceFilter(), "1", NOON)
    yield "dashboard/source.html", source_page(user, source.pk, NOON)


def test_rendering_a_page_makes_no_queries(django_assert_num_queries):
    user = a_user(is_staff=True)
    request = RequestFactory().get("/")
    request.user = user
    pages = list(whole_pages(user))
    beside = sidebar(user)
    for template, page in pages:
        with django_assert_num_queries(0):
            assert render_to_string(template, {"page": page, "sidebar": beside, "now": NOON}, request)


def test_a_river_ends_where_the_next_page_starts():
    follow = a_follow()
    some_postings(LENGTH + 5, follow.source)
    first = river_page(follow.user, Scope("all"), "All", NEWEST, NOON)
    onwards = ListOptions(unread_only=False, order=User.Order.NEWEST, start=Cursor.decode(first["next"]))
    rest = river_page(follow.user, Scope("all"), "All", onwards, NOON)
    assert (len(first["rows"]), len(rest["rows"]), rest["next"]) == (LENGTH, 5, "")
    assert not {row.id for row in first["rows"]} & {row.id for row in rest["rows"]}


def test_the_sidebar_counts_a_source_once_in_each_folder():
    user = a_user()
    outer = a_folder(user, "Outer")
    inner = a_folder(user, "Inner", parent=outer)
    follow = a_follow(user, folders=(outer, inner))
    some_postings(3, follow.source)
    page = sidebar(user)
    assert dict(page.counts()) == {
        "all": 3,
        f"folder-{outer.pk}": 3,
        f"folder-{inner.pk}": 3,
        f"source-{follow.source_id}": 3,
    }


def test_a_posting_page_finds_its_neighbours_and_what_changed():
    older, middle, newer = reversed(some_postings(3))
    an_edition(middle, title=middle.title, text="Words of a posting.")
    page = posting_page(AnonymousUser(), middle.pk)
    assert (page["older_id"], page["newer_id"]) == (older.pk, newer.pk)
    assert {change.kind for change in page["editions"][0]["changes"]} == {"same", "removed", "added"}


@pytest.mark.parametrize(
    ("claimed", "added", "delay"),
    [
        pytest.param(0, -1, timedelta(minutes=1), id="a new posting"),
        pytest.param(None, -1, None, id="no time is named"),
        pytest.param(2, -1, None, id="a time to come is named"),
        pytest.param(0, 1, None, id="older than the source is here"),
    ],
)
def test_a_delay_is_shown_only_if_meaningful(claimed, added, delay):
    source = a_source(listed=True, added_at=NOON + timedelta(minutes=added))
    named = None if claimed is None else NOON + timedelta(minutes=claimed)
    posting = a_posting(source, published_at=NOON, claimed_at=named)
    assert posting_page(AnonymousUser(), posting.pk)["delay"] == delay
