"""Every page takes as many queries for people who follow much and have much to read as for those who begin."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.following import actions
from apps.postings.models import Posting
from apps.search.models import SavedSearch
from apps.web.pages.sidebar import sidebar
from tests.builders import NOON, a_folder, a_follow, a_mark, a_user, some_postings

pytestmark = pytest.mark.django_db

MOST = {"all": 7, "folder": 8, "source": 9, "posting": 14}  # queries


def a_reader(sources: int, postings: int):
    user = a_user()
    for number in range(sources):
        SavedSearch.objects.create(user=user, name=f"Search {number}", secret=f"{user.pk}-{number}", saved_at=NOON)
    folder = a_folder(user, parent=a_folder(user))
    for number in range(sources):
        follow = a_follow(user, folders=(folder,) if number % 2 == 0 else ())
        for posting in some_postings(postings, follow.source)[:2]:
            a_mark(user, posting, read=False, starred_at=NOON)
            actions.marks.tag(user, [posting.pk], f"Tag {number}", NOON)
    return user, folder


def queries_of(client, address) -> int:
    client.get(address)  # what is noted of the first visit, or cached once for all, is not counted
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


def addresses_of(user, folder) -> dict[str, str]:
    source = user.follows.order_by("pk")[0].source_id
    posting = Posting.objects.filter(source=source).order_by("pk").first()
    actions.marks.mark_read(user, [posting.pk], read=True, now=NOON)
    lists = {"all": "/river/", "folder": f"/river/folder/{folder.pk}/", "source": f"/river/source/{source}/"}
    shown = ("", "?show=unread", "?show=unread&order=oldest")
    pages = {f"{name}{query}": f"{address}{query}" for name, address in lists.items() for query in shown}
    return pages | {"posting": f"/posting/{posting.pk}/"}


def test_a_page_takes_a_fixed_number_of_queries(client, subtests):
    taken = []
    for sources, postings in ((1, 2), (25, 9)):
        user, folder = a_reader(sources, postings)
        client.force_login(user)
        taken.append({name: queries_of(client, address) for name, address in addresses_of(user, folder).items()})
    few, many = taken
    for name in few:
        with subtests.test(name):
            assert few[name] == many[name]
            assert few[name] <= MOST[name.partition("?")[0]]


def test_an_article_beside_its_list_takes_no_queries_of_the_sidebar(client):
    user, _folder = a_reader(3, 3)
    client.force_login(user)
    posting = Posting.objects.order_by("pk").first()
    address = f"/posting/{posting.pk}/"
    whole = queries_of(client, address)
    with CaptureQueriesContext(connection) as captured:
        part = client.get(address, headers={"HX-Request": "true", "HX-Target": "pane"})
    assert len(captured) <= whole - 2
    assert 'class="sidebar"' not in part.text
    assert "<html" not in part.text
    assert {"HX-Request", "HX-Target"} <= {name.strip() for name in part["Vary"].split(",")}


def test_counts_take_two_queries(django_assert_num_queries):
    for sources in (1, 25):
        user, _ = a_reader(sources, 3)
        with django_assert_num_queries(2):
            counted = sidebar(user)
        assert counted.unread == sources * 3
