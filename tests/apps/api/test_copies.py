"""Programs get every copy of an article, and what they mark counts for all of its copies."""

import pytest

from apps.following import queries
from apps.postings.models import Posting
from tests.apps.api.google_reader import READ, READING_LIST, STARRED
from tests.apps.api.google_reader import Program as GoogleReader
from tests.apps.api.miniflux import Program as Miniflux
from tests.apps.api.programs import Program as Rest
from tests.apps.api.test_fever import Program as Fever
from tests.apps.api.test_fever import ids
from tests.builders import a_follow, a_posting

pytestmark = pytest.mark.django_db


@pytest.fixture
def copies(person):
    """Two copies of an article, the first first."""
    pair = [a_posting(a_follow(person).source) for _ in range(2)]
    Posting.objects.filter(pk__in=[each.pk for each in pair]).update(first_copy=pair[0].pk)
    return [each.pk for each in pair]


def is_read(person):
    return not queries.unread(Posting.objects.all(), person).exists()


def test_google_readers_dialect(person, copies):
    program = GoogleReader(person)
    assert sorted(program.ids(s=READING_LIST, xt=READ)) == copies
    assert [each["count"] for each in program.json("unread-count", output="json")["unreadcounts"]].count(1) == 2
    program.does("edit-tag", i=copies[1], a=READ)
    assert [READ in program.categories(id) for id in copies] == [True, True]
    assert program.ids(s=READING_LIST, xt=READ) == []
    assert sorted(program.ids(s=READING_LIST)) == copies
    program.does("edit-tag", i=copies[0], r=READ)
    assert sorted(program.ids(s=READING_LIST, xt=READ)) == copies
    program.does("edit-tag", i=copies[0], a=STARRED)
    assert program.ids(s=STARRED) == copies[:1]


def test_minifluxs_dialect(person, copies):
    program = Miniflux(person)
    assert sorted(program.entries(status="unread")[1]) == copies
    program.request("put", "entries", {"entry_ids": copies[:1], "status": "read"})
    assert program.entries(status="unread") == (0, [])
    assert program.request("get", f"entries/{copies[1]}").json()["status"] == "read"
    program.request("put", "entries", {"entry_ids": copies[1:], "status": "unread"})
    assert sorted(program.entries(status="unread")[1]) == copies


def test_fevers_dialect(person, copies):
    program = Fever(person)
    assert sorted(ids(program.request("unread_item_ids")["unread_item_ids"])) == copies
    program.request(f"mark=item&as=read&id={copies[1]}")
    assert ids(program.request("unread_item_ids")["unread_item_ids"]) == []
    assert {item["is_read"] for item in program.request("items")["items"]} == {1}


def test_rest(person, copies):
    program = Rest(person)

    def unread():
        return sorted(each["id"] for each in program.get("postings", unread="true").json()["items"])

    assert unread() == copies
    program.post("postings/marks", {"posting_ids": copies[:1], "read": True})
    assert unread() == []
    assert is_read(person)
