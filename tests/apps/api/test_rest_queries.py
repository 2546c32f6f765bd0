"""No response takes more queries when it has more rows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.api.dialects.rest.urls import interface
from apps.search.actions.reindexing import consume
from tests.apps.api.programs import Program, UserData, a_person_with_everything

pytestmark = pytest.mark.django_db

# The most that an answer may take, with that of the token.
MAX_COUNT = {
    "/me": 2,
    "/sources": 4,
    "/sources/{source_id}": 6,
    "/follows": 4,
    "/follows/{source_id}": 4,
    "/folders": 5,
    "/folders/{folder_id}": 5,
    "/tags": 2,
    "/tags/{tag_id}": 2,
    "/opml": 4,
    "/postings": 4,
    "/postings/{posting_id}": 4,
    "/postings/{posting_id}/summary": 6,
    "/highlights": 2,
    "/search?q=alone": 20,
    "/searches": 3,
    "/searches/{search_id}": 3,
    "/searches/{search_id}/hits": 4,
    "/trends": 4,
    "/stories": 9,
    "/stories/{story_id}": 7,
}


@pytest.fixture(scope="module")
def paths() -> set[str]:
    return {
        path.removeprefix("/api/v1")
        for path, operations in interface.get_openapi_schema()["paths"].items()
        if "get" in operations
    }


@pytest.fixture
def two() -> tuple[UserData, UserData]:
    """A user with few rows, and one with many."""
    little, much = a_person_with_everything("Ada", size=2), a_person_with_everything("Eve", size=9)
    consume()
    return little, much


def queries_of(owner: UserData, path: str) -> int:
    program = Program(owner.person)
    ids = {"source_id": owner.source.pk, "posting_id": owner.posting.pk, "folder_id": owner.folder_id}
    ids |= {"tag_id": owner.tag_id, "search_id": owner.search.pk, "story_id": owner.story_id}
    address = path.removeprefix("/").format(**ids)
    program.get(address)  # the token's first use is written down, and what is the same for all is remembered
    with CaptureQueriesContext(connection) as queries:
        assert program.get(address).status_code == 200
    return len(queries)


def test_every_read_operation_is_counted(paths):
    assert {path.partition("?")[0] for path in MAX_COUNT} == paths


def test_the_queries_of_an_answer_do_not_grow_with_its_rows(two):
    counted = {path: [queries_of(owner, path) for owner in two] for path in MAX_COUNT}
    growing = {path: counts for path, counts in counted.items() if counts[0] != counts[1]}
    too_many = {path: counts for path, counts in counted.items() if max(counts) > MAX_COUNT[path]}
    assert (growing, too_many) == ({}, {})


@pytest.mark.parametrize("how_many", [1, 15])
def test_marking_many_takes_as_many_statements_as_marking_one(how_many):
    owner = a_person_with_everything("Ada", size=4)
    program = Program(owner.person)
    ids = [each["id"] for each in program.get("postings", limit=how_many).json()["items"]]
    body = {"posting_ids": ids, "read": True, "starred": True, "add_tags": ["x"], "remove_tags": ["y"]}
    with CaptureQueriesContext(connection) as queries:
        assert len(program.post("postings/marks", body).json()["posting_ids"]) == how_many
    assert len(queries) <= 30
