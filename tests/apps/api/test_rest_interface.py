"""Responses of the REST API: authentication, limits, problems and headers."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.actions import revoke_token
from apps.api.dialects.rest.urls import interface
from apps.api.dialects.rest.views.endpoint import MAX_BODY_BYTES, MAX_REQUESTS
from tests.apps.api.programs import Program
from tests.builders import a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"


@pytest.fixture
def ada():
    return Program(a_user("Ada"))


def problem(answer, status):
    """What a problem says, of which all have the same form."""
    assert answer.status_code == status
    assert answer["Content-Type"] == PROBLEM
    result = answer.json()
    assert result["status"] == status
    assert result["title"]
    assert result["detail"]
    return result


# --- who may come in --------------------------------------------------------------------------------------------------
def test_the_account_of_a_token_has_its_scopes(ada):
    result = ada.get("me").json()
    assert (result["username"], result["token"], result["scopes"]) == ("Ada", "program", ["read", "write"])


def test_requests_without_a_token_are_refused(client):
    answer = client.get("/api/v1/me")
    problem(answer, 401)
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_session_does_not_replace_a_token(client, ada):
    client.force_login(ada.person)
    problem(client.get("/api/v1/me"), 401)
    problem(client.post("/api/v1/folders", {"name": "News"}, content_type="application/json"), 401)


def test_a_revoked_token_opens_nothing(ada):
    revoke_token(ada.person, ada.person.app_tokens.get().pk)
    problem(ada.get("me"), 401)


def test_a_token_that_allows_reading_changes_nothing(ada):
    reader = Program(ada.person, "read")
    assert reader.get("folders").status_code == 200
    problem(reader.post("folders", {"name": "News"}), 403)


# --- how often --------------------------------------------------------------------------------------------------------
def test_the_number_of_requests_left_is_in_the_headers(ada):
    first, second = ada.get("me"), ada.get("me")
    assert first["RateLimit-Limit"] == str(MAX_REQUESTS)
    assert int(first["RateLimit-Remaining"]) - int(second["RateLimit-Remaining"]) in {0, 1}  # 0: another minute began
    assert 0 < int(first["RateLimit-Reset"]) <= 60


def test_too_many_requests_get_a_time_to_retry(ada, monkeypatch):
    monkeypatch.setattr("apps.api.dialects.rest.views.endpoint.MAX_REQUESTS", 0)
    answer = ada.get("me")
    problem(answer, 429)
    assert 0 < int(answer["Retry-After"]) <= 60


# --- what is wrong ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", ["", "nothing", "folders/", "folders/1/nothing"])
def test_an_unknown_address_is_a_problem(ada, path):
    problem(ada.get(path), 404)


def test_a_method_that_an_address_does_not_take(ada):
    answer = ada.delete("folders")
    problem(answer, 405)
    assert set(answer["Allow"].split(", ")) == {"GET", "POST"}


def test_values_that_cannot_be_are_named_with_their_places(ada):
    result = problem(ada.get("postings", limit=0, order="sideways"), 422)
    assert {wrong["place"] for wrong in result["errors"]} == {"query.limit", "query.order"}
    result = problem(ada.post("postings/marks", {"posting_ids": [1, "x"], "raed": True}), 422)
    assert {wrong["place"].rpartition(".")[2] for wrong in result["errors"]} == {"1", "raed"}


@pytest.mark.parametrize("number", ["x", "0", "-1", str(2**63), "9" * 5_000])
def test_a_number_that_no_row_can_have(ada, number):
    problem(ada.get(f"postings/{number}"), 422)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000, b"9" * 5_000])
def test_an_invalid_json_body_is_a_problem(ada, body):
    assert ada.request("POST", "folders", body).status_code in {400, 422}


@pytest.mark.parametrize("name", ["\0", "\ud800", "", " ", "x" * 101, None, 7, ["x"]])
def test_a_name_that_cannot_be(ada, name):
    problem(ada.post("folders", {"name": name}), 422)


def test_a_body_of_another_kind_is_not_read(ada):
    problem(ada.request("POST", "folders", b"name=News", kind="application/x-www-form-urlencoded"), 415)


def test_a_body_that_is_too_large_is_not_read(ada):
    problem(ada.request("POST", "folders", b" " * (MAX_BODY_BYTES + 1)), 413)


def test_an_invalid_cursor_is_a_problem(ada):
    for path in ("postings", "follows", "stories", "sources"):
        assert problem(ada.get(path, cursor="x.y"), 400)["errors"][0]["place"] == "query.cursor"


# --- answers that are the same ----------------------------------------------------------------------------------------
def test_unchanged_responses_are_not_sent_again(ada):
    follow = a_follow(ada.person, a_source(listed=True))
    a_posting(follow.source, published_at=timezone.now() - timedelta(hours=1))
    for path in ("postings", "me", "folders", "follows", f"sources/{follow.source_id}"):
        first = ada.get(path)
        again = ada.request("GET", path, **{"if-none-match": first["ETag"]})
        assert (again.status_code, again.content) == (304, b""), path
    listed = ada.get("postings")
    a_posting(follow.source, published_at=timezone.now())
    assert ada.request("GET", "postings", **{"if-none-match": listed["ETag"]}).status_code == 200


def test_responses_are_private(ada):
    answer = ada.get("me")
    assert "private" in answer["Cache-Control"]
    assert "Authorization" in answer["Vary"]


def test_head_is_answered_like_get(ada):
    answer = ada.request("HEAD", "me")
    assert answer.status_code == 200
    assert answer["ETag"] == ada.get("me")["ETag"]


def test_times_have_microseconds(ada):
    follow = a_follow(ada.person)
    at = timezone.now().replace(microsecond=123_456)
    a_posting(follow.source, published_at=at)
    assert ada.get("postings").json()["items"][0]["published_at"] == at.isoformat()


# --- how it describes itself ------------------------------------------------------------------------------------------
def test_the_document_is_public():
    document = Client().get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1.")
    assert document["components"]["securitySchemes"]["Token"]["scheme"] == "bearer"
    assert document["paths"]["/api/v1/folders"]["post"]["security"] == [{"Token": ["write"]}]
    assert document["paths"]["/api/v1/folders"]["get"]["security"] == [{"Token": ["read"]}]


def test_every_operation_documents_its_purpose_and_problems():
    document = interface.get_openapi_schema()
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["description"]
            assert operation["tags"]
            assert {"401", "403", "429"} < set(operation["responses"])
            for status, response in operation["responses"].items():
                assert status < "400" or list(response["content"]) == [PROBLEM]


def test_kinds_of_one_name_are_one_kind():
    """The document knows each by its name alone: two of one name would describe each other's values."""
    kinds = {}
    for router in interface._get_bound_routers():
        for view in router.path_operations.values():
            for operation in view.operations:
                for model in operation.response_models.values():
                    if model is None:
                        continue
                    for name, schema in model.model_json_schema(mode="serialization").get("$defs", {}).items():
                        written = json.dumps(schema, sort_keys=True)
                        assert kinds.setdefault(name, written) == written, name


def test_the_page_that_documents_it_loads_nothing_from_elsewhere(client):
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    assert "http" not in page.text.replace('"/api/v1/openapi.json"', "")
    assert "<style" not in page.text
    assert "unsafe" not in page["Content-Security-Policy"]
