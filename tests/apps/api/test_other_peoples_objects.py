"""No token opens another user's object: every operation is tried with the ids of another user.

The calls are made from the OpenAPI document, so a new operation is tried as soon as it is there; an id of a kind that
is not known here fails the test until it is declared. Dialects without such a document have a table of
calls. Each call is made by the owner first, which shows that it is in order: what the other person gets is no mere
complaint about its form.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.api.dialects.rest.urls import interface
from apps.postings.models import Posting
from apps.search.actions.reindexing import consume
from apps.sources.models import Source
from tests.apps.api.programs import Program, UserData, a_person_with_everything
from tests.builders import a_posting, a_source

pytestmark = pytest.mark.django_db

# What each kind of id is of. Kinds that end in "s" are lists.
KINDS: Mapping[str, Callable[[UserData], int]] = {
    "category_id": lambda owner: owner.folder_id + 1,  # of Miniflux: 1 is no folder's
    "folder_id": lambda owner: owner.folder_id,
    "folder_ids": lambda owner: owner.folder_id,
    "highlight_id": lambda owner: owner.highlight_id,
    "like_ids": lambda owner: owner.posting.pk,
    "parent_id": lambda owner: owner.other_folder_id,
    "posting_id": lambda owner: owner.posting.pk,
    "posting_ids": lambda owner: owner.posting.pk,
    "search_id": lambda owner: owner.search.pk,
    "source_id": lambda owner: owner.source.pk,
    "story_id": lambda owner: owner.story_id,
    "tag_id": lambda owner: owner.tag_id,
    "undo_id": lambda owner: owner.undo_id,
    "unlike_ids": lambda owner: owner.former_posting.pk,
}
NUMBERS = {"limit", "percent"}  # that name nothing
ELSEWHERE = {"address"}  # would send requests to another site
DOCUMENTS = {"text/x-opml": b'<opml version="2.0"><body/></opml>'}
# Ids without which a body is not in order; beside another person's id they are what everybody may name.
MUST = {"mark_postings": {"posting_ids"}, "undo_mark_list_read": {"undo_id"}, "follow": {"source_id"}}
OPEN: Mapping[str, Callable[[], Any]] = {
    "posting_ids": lambda: [Posting.objects.get(title="For all").pk],
    "source_id": lambda: Source.objects.get(title="Wire").pk,
    "undo_id": lambda: 1,
}
WORDS = "alone"  # what stands in everybody's postings

# Method, path with its query, and form or JSON of calls in dialects that have no document of their own. Names in braces
# are kinds, and filled in with the owner's ids: ("POST", "/reader/api/0/edit-tag", {"i": "{posting_id}"}).
GREADER = "/reader/api/0"
OTHER_DIALECTS: tuple[tuple[str, str, bytes | Mapping[str, Any] | None], ...] = (
    ("GET", "/reader/atom/feed/{source_id}", None),
    ("GET", f"{GREADER}/stream/contents/feed/{{source_id}}", None),
    ("GET", f"{GREADER}/stream/items/ids?s=feed/{{source_id}}&n=10", None),
    ("GET", f"{GREADER}/stream/items/count?s=feed/{{source_id}}", None),
    ("POST", f"{GREADER}/stream/items/contents", b"i={posting_id}"),
    ("POST", f"{GREADER}/edit-tag", b"i={posting_id}&a=user/-/state/com.google/starred"),
    ("POST", f"{GREADER}/edit-tag", b"i={posting_id}&r=user/-/state/com.google/starred"),
    ("POST", f"{GREADER}/edit-tag", b"i={posting_id}&a=user/-/state/com.google/read"),
    ("POST", f"{GREADER}/edit-tag", b"i={posting_id}&a=user/-/state/com.google/broadcast"),
    ("POST", f"{GREADER}/edit-tag", b"i={posting_id}&a=user/-/label/mine"),
    ("POST", f"{GREADER}/mark-all-as-read", b"s=feed/{source_id}"),
    ("POST", f"{GREADER}/subscription/edit", b"ac=edit&s=feed/{source_id}&t=mine"),
    ("POST", f"{GREADER}/subscription/edit", b"ac=unsubscribe&s=feed/{source_id}"),
    ("GET", "/v1/feeds/{source_id}", None),
    ("GET", "/v1/feeds/{source_id}/entries", None),
    ("GET", "/v1/feeds/{source_id}/entries/{posting_id}", None),
    ("PUT", "/v1/feeds/{source_id}", {"title": "mine"}),
    ("PUT", "/v1/feeds/{source_id}", {"category_id": "{category_id}"}),
    ("PUT", "/v1/feeds/{source_id}/mark-all-as-read", None),
    ("PUT", "/v1/feeds/{source_id}/refresh", None),
    ("DELETE", "/v1/feeds/{source_id}", None),
    ("GET", "/v1/entries/{posting_id}", None),
    ("GET", "/v1/entries?feed_id={source_id}", None),
    ("GET", "/v1/entries?category_id={category_id}", None),
    ("PUT", "/v1/entries", {"entry_ids": ["{posting_id}"], "status": "unread"}),
    ("PUT", "/v1/entries/{posting_id}/bookmark", None),
    ("GET", "/v1/categories/{category_id}/feeds", None),
    ("GET", "/v1/categories/{category_id}/entries", None),
    ("PUT", "/v1/categories/{category_id}", {"title": "mine"}),
    ("PUT", "/v1/categories/{category_id}/mark-all-as-read", None),
)


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    kind: str = "application/json"
    is_of_owner: bool = False  # its path names the owner's object
    is_mixed: bool = False  # its path names the other person's object, and the rest the owner's

    def by(self, program: Program):
        return program.request(self.method, self.path, self.body, query=self.query, kind=self.kind)


class UnknownKind(AssertionError):
    """An operation takes an id of an undeclared kind."""


# --- calls out of the document ----------------------------------------------------------------------------------------
def calls(document: Mapping[str, Any], owner: UserData, other: UserData) -> Iterator[Call]:
    """Each operation with what it must have, and once more with each id that it may have."""
    schemas = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield from _calls_of(path, method, operation, schemas, owner, other)


def _calls_of(
    path: str,
    method: str,
    operation: Mapping[str, Any],
    schemas: Mapping[str, Any],
    owner: UserData,
    other: UserData,
) -> Iterator[Call]:
    name = operation["operationId"]
    parameters = {each["name"]: each for each in operation["parameters"]}
    in_path = {each: _id(name, each, owner) for each, known in parameters.items() if known["in"] == "path"}
    in_query = {each: known for each, known in parameters.items() if known["in"] == "query"}
    query = {each: WORDS for each, known in in_query.items() if known["required"] and not _is_id(name, each, known)}
    kind, fields = _body_of(operation, schemas)
    body = {
        each: _sample(schema, schemas)
        for each, schema in fields.items()
        if each not in ELSEWHERE and not _is_id(name, each, schema)
    }
    given = {"path": path.format(**in_path), "kind": kind, "is_of_owner": bool(in_path)}
    must = {each for each in fields if each in MUST.get(name, ())}
    whole = body | {each: _filled(name, each, owner) for each in must} if fields else DOCUMENTS.get(kind)
    public = body | {each: OPEN[each]() for each in must}
    yield Call(name, method, query=query, body=whole, **given)
    for each, known in in_query.items():
        if _is_id(name, each, known["schema"]):
            yield Call(f"{name} {each}", method, query=query | {each: _filled(name, each, owner)}, body=whole, **given)
    for each, schema in fields.items():
        if _is_id(name, each, schema):
            sent = public | {each: _filled(name, each, owner)}
            yield Call(f"{name} {each}", method, query=query, body=sent, **given)
            if in_path:
                theirs = path.format(**{known: _id(name, known, other) for known in in_path})
                yield Call(f"{name} {each} mixed", method, theirs, query, sent, kind, is_mixed=True)


def _body_of(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    content = operation.get("requestBody", {}).get("content", {"application/json": {"schema": {}}})
    kind = next(iter(content))
    return kind, _resolved(content[kind]["schema"], schemas).get("properties", {})


def _is_id(operation: str, name: str, schema: Mapping[str, Any]) -> bool:
    """Whether it is one; whole numbers, and what is called so, have to be known."""
    is_id = name.endswith(("_id", "_ids")) or _holds_numbers(schema.get("schema", schema))
    if is_id and name not in KINDS and name not in NUMBERS:
        raise UnknownKind(f"Say in KINDS what “{name}” of {operation} is of, or in NUMBERS that it names nothing.")
    return name in KINDS


def _holds_numbers(schema: Mapping[str, Any]) -> bool:
    parts = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    return schema.get("type") == "integer" or any(map(_holds_numbers, parts))


def _id(operation: str, name: str, owner: UserData) -> int:
    if name not in KINDS:
        raise UnknownKind(f"Say in KINDS what “{name}” in the path of {operation} is of.")
    return KINDS[name](owner)


def _filled(operation: str, name: str, owner: UserData) -> int | list[int]:
    number = _id(operation, name, owner)
    return [number] if name.endswith("s") else number


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _sample(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """A value that a field may have: its own default, or else something that would change a row."""
    if schema.get("default"):
        return schema["default"]
    known = _resolved(schema, schemas)
    if "anyOf" in known:
        return _sample(next(each for each in known["anyOf"] if each.get("type") != "null"), schemas)
    if "enum" in known:
        return known["enum"][-1]
    if known["type"] == "array":
        return [_sample(known["items"], schemas)]
    if known.get("format") == "date-time":
        return timezone.now().isoformat()
    return {"string": WORDS, "boolean": False, "integer": 1, "number": 1.0}[known["type"]]


def calls_of_other_dialects(owner: UserData) -> Iterator[Call]:
    ids = {name: of(owner) for name, of in KINDS.items()}
    for method, path, body in OTHER_DIALECTS:
        is_form = isinstance(body, bytes)
        yield Call(
            f"{method} {path}",
            method,
            path.format_map(ids),
            body=body.decode().format_map(ids).encode() if isinstance(body, bytes) else _with_ids(body, ids),
            kind="application/x-www-form-urlencoded" if is_form else "application/json",
        )


def _with_ids(value: Any, ids: Mapping[str, int]) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_ids(each, ids) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_ids(each, ids) for each in value]
    if isinstance(value, str):
        return ids.get(value.strip("{}"), value.format_map(ids)) if "{" in value else value
    return value


# --- what belongs to whom ---------------------------------------------------------------------------------------------
def ways_to_owners() -> dict[type[models.Model], str]:
    """Every table that hangs on people, near or far, with the lookup that leads to its person."""
    found: dict[type[models.Model], str] = {User: "pk"}
    waiting = [User]
    while waiting:
        above = waiting.pop(0)
        for model in apps.get_models(include_auto_created=True):
            for link in model._meta.get_fields():
                is_link = isinstance(link, models.ForeignKey) and link.related_model is above
                if is_link and model not in found and link.name != "actor":
                    found[model] = link.name if above is User else f"{link.name}__{found[above]}"
                    waiting.append(model)
    return found


def rows_of(owner: UserData) -> dict[str, list[Any]]:
    """All rows of a user, with their private sources and postings."""
    rows = {
        model._meta.label: list(model._default_manager.filter(**{way: owner.person.pk}).order_by("pk").values())
        for model, way in ways_to_owners().items()
        if model._meta.app_label not in {"sessions", "admin"}
    }
    sources = Source.objects.filter(title__startswith=owner.person.username).order_by("pk")
    rows["sources"] = list(sources.values())
    rows["postings"] = list(Posting.objects.filter(source__in=sources).order_by("pk").values())
    return rows


def test_owners_of_rows_are_derived_from_the_models():
    labels = {model._meta.label for model in ways_to_owners()}
    assert labels > {
        "following.Follow", "following.Follow_folders", "following.Folder", "following.Mark", "following.Tag",
        "following.Tagging", "following.Note", "following.MarkedAll", "search.SavedSearch", "alerts.Rule", "alerts.Hit",
        "alerts.Message", "alerts.Attempt", "alerts.PercolatorQuery", "accounts.AppToken",
    }  # fmt: skip


# --- the trial --------------------------------------------------------------------------------------------------------
@pytest.fixture
def people() -> tuple[UserData, UserData]:
    both = a_person_with_everything("Ada"), a_person_with_everything("Eve")
    a_posting(a_source(title="Wire", listed=True), title="For all", text="All may read this.")
    consume()
    return both


def tried(call: Call, program: Program, then: Callable[[Any, bool], str]) -> str:
    """What is wrong about the answer, "" if nothing; whatever it changed is undone."""
    with transaction.atomic():
        written = rows_written()
        answer = call.by(program)
        wrong = then(answer, rows_written() != written)
        transaction.set_rollback(True)
    return wrong


def rows_written() -> int:
    """How many rows this transaction has inserted, changed or deleted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_xact_user_tables")
        return cursor.fetchone()[0]


def of_owner(call: Call) -> Callable[[Any, bool], str]:
    def judged(answer: Any, has_written: bool) -> str:
        return (
            "" if answer.status_code < 300 else f"{call}: its owner gets {answer.status_code}: {answer.content[:300]!r}"
        )

    return judged


def of_other(call: Call, owner: UserData, before: Mapping[str, list[Any]]) -> Callable[[Any, bool], str]:
    def judged(answer: Any, has_written: bool) -> str:
        if has_written and rows_of(owner) != before:
            changed = [label for label, rows in rows_of(owner).items() if rows != before[label]]
            return f"{call}: changed {changed}"
        if answer.status_code in {400, 403, 404}:  # the owner was not refused: it is the id that is wrong
            return ""
        if answer.status_code >= 300 or call.is_of_owner:
            return f"{call}: {answer.status_code} {answer.content[:300]!r}"
        shown = owner.person.username.encode() in answer.content
        return f"{call}: shows {answer.content[:300]!r}" if shown else ""

    return judged


@pytest.mark.timeout(600)  # s; some hundred calls, and the machine may be busy
@pytest.mark.trial
def test_no_token_opens_objects_of_others(people, monkeypatch):
    monkeypatch.setattr("apps.api.dialects.rest.views.endpoint.MAX_REQUESTS", 10_000)
    document, made, wrong = interface.get_openapi_schema(), 0, []
    programs = {each.person.pk: Program(each.person) for each in people}
    for program in programs.values():
        assert program.get("me").status_code == 200  # notes the first use, which each call would write again
    for owner, other in (people, people[::-1]):
        before = rows_of(owner)
        for call in [*calls(document, owner, other), *calls_of_other_dialects(owner)]:
            made += 1
            if not call.is_mixed:
                wrong.append(tried(call, programs[owner.person.pk], of_owner(call)))
            wrong.append(tried(call, programs[other.person.pk], of_other(call, owner, before)))
    assert not any(wrong), "\n".join(filter(None, wrong))
    print(f"{made} calls")
    assert made > 2 * len(document["paths"])


def test_an_id_of_an_unknown_kind_has_to_be_explained(people):
    wombats = {"operationId": "read_wombat", "parameters": [{"name": "wombat_id", "in": "path", "required": True}]}
    pages = {"operationId": "list", "parameters": [
        {"name": "offset", "in": "query", "required": False, "schema": {"type": "integer"}}]}  # fmt: skip
    for operation in (wombats, pages):
        document = {"components": {"schemas": {}}, "paths": {"/wombats": {"get": operation}}}
        with pytest.raises(UnknownKind):
            list(calls(document, *people))
