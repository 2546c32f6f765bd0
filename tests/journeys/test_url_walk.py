"""No user sees or changes objects of another user: every URL and every API operation is tried.

The patterns are found in the resolver and the operations in the OpenAPI document. A new pattern fails the test until it
has a line in `walk/entries.py`, and a parameter of a new name until `walk/world.py` has a value for it.
"""

import json
import logging
from collections.abc import Iterator
from hashlib import md5
from typing import Any
from urllib.parse import urlencode

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils import timezone

from apps.accounts.actions import make_token
from apps.accounts.models import User
from apps.api.dialects.rest.urls import interface
from tests.apps.api.programs import UserData, a_person_with_everything
from tests.apps.api.test_other_peoples_objects import Call, calls, calls_of_other_dialects
from tests.builders import a_user
from tests.journeys.walk.entries import ENTRIES
from tests.journeys.walk.requests import Pattern, odd_requests, patterns, requests
from tests.journeys.walk.rows import Checksums, Writes
from tests.journeys.walk.world import ANYTHING, PERSONAL, World, a_foreign_world

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]

PATTERNS, OPERATIONS = 370, 130  # there are at least so many


# Their URLs hold a secret that is wrong, or what does not exist.
REFUSED_TO_ALL = {
    "image", "recording", "feed_icon", "player",
    "shared", "alert_stop", "push", "private_sources", "private_feed", "search_feed", "section",
    "section_feed", "accounts/oidc/<str:provider_id>/login/", "openid_connect_login",
    "openid_connect_callback", "account_confirm_email", "accept_invitation",
}  # fmt: skip


def is_of_program(call: Call) -> bool:
    return call.path.startswith(("/v1/", "/api/", "/reader/", "/fever", "/accounts/ClientLogin"))


class Actor:
    """A visitor, or a person with a session in a browser and a token for programs."""

    def __init__(self, person: User | None = None) -> None:
        self.person, self.secret, self.fever_key = person, "", ""
        self.client = Client(raise_request_exception=False)
        if person is not None:
            self.client.force_login(person)
            self.secret = make_token(person, "program", ["read", "write"], now=timezone.now(), for_fever=True)[1]
            self.fever_key = md5(f"{person.username}:{self.secret}".encode()).hexdigest()
            self.send(Call("me", "get", "/api/v1/me"))  # notes the first use, which each request would write again

    def send(self, call: Call) -> Any:
        is_fever = "fever" in call.path
        body = call.body if isinstance(call.body, bytes) or call.body is None else json.dumps(call.body)
        if is_fever and self.fever_key and call.method == "POST":
            body = (body or b"") + b"&api_key=" + self.fever_key.encode()
        headers = {"authorization": f"Bearer {self.secret}"} if self.secret and is_of_program(call) else {}
        query = call.query if isinstance(call.query, str) else urlencode(call.query, doseq=True)
        return self.client.generic(
            call.method.upper(), call.path, body or b"", call.kind, QUERY_STRING=query, headers=headers
        )


@pytest.fixture
def world() -> World:
    return a_foreign_world()


@pytest.fixture
def known() -> list[Pattern]:
    return patterns()


def api_calls(world: World, other: UserData) -> Iterator[Call]:
    yield from calls(interface.get_openapi_schema(), world.owner, other)
    yield from calls_of_other_dialects(world.owner)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of refusals would be logged, and shown where the test fails."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


# --- the walk ---------------------------------------------------------------------------------------------------------
class Walk:
    """Requests of one actor, each undone, and what is wrong about their responses."""

    def __init__(self, actor: Actor, world: World, *, is_staff: bool = False) -> None:
        self.actor, self.world, self.is_staff = actor, world, is_staff
        self.checksums, self.writes = Checksums(actor.person), Writes()
        self.before, self.written = self.checksums.read(), self.writes.count()
        self.requests = 0
        self.problems: list[str] = []

    def attempt(self, call: Call, *, may_change: bool = False) -> Any:
        cache.clear()  # or limits would refuse most of them
        self.requests += 1
        with transaction.atomic():
            response = self.actor.send(call)
            body = b"".join(response) if response.streaming else response.content
            found = [*self._errors(response), *self._leaks(response, body)]
            if response.status_code < 500 and self._has_written() and not may_change:
                found += self._changes()
            transaction.set_rollback(True)
        self.problems += [f"{call.method.upper()} {call.path} ({call.name}): {problem}" for problem in found]
        return response

    def _has_written(self) -> bool:
        former, self.written = self.written, self.writes.count()
        return former != self.written

    def _errors(self, response: Any) -> Iterator[str]:
        if response.status_code >= 500:
            raised = getattr(response, "exc_info", None)
            yield f"answers {response.status_code} {raised[1]!r}" if raised else f"answers {response.status_code}"

    def _leaks(self, response: Any, body: bytes) -> Iterator[str]:
        headers = "\n".join(response.get(name, "") for name in ("Location", "Content-Disposition"))
        shown = headers + body.decode(errors="replace")
        leak = (PERSONAL if self.is_staff else ANYTHING).search(shown)
        if leak:
            yield f"shows {shown[max(leak.start() - 60, 0) : leak.end() + 60]!r}"
        yield from (f"shows the secret {secret[:8]}..." for secret in self.world.secrets if secret in shown)

    def _changes(self) -> Iterator[str]:
        changed = [table for table, sums in self.checksums.read().items() if sums != self.before[table]]
        if changed:
            yield f"changed {', '.join(changed)}"


def walk(actor: Actor, world: World, known: list[Pattern], made: list[Call], *, is_staff: bool = False) -> Walk:
    walked = Walk(actor, world, is_staff=is_staff)
    of_staff = {pattern.path(world.values) for pattern in known if pattern.kind == "staff"}
    for call in made:
        walked.attempt(call, may_change=is_staff and call.path in of_staff)
    assert walked.checksums.read() == walked.before
    return walked


@pytest.mark.parametrize(
    ("role", "with_every_form"),
    [
        ("visitor", False),  # who is refused whatever the form says
        pytest.param("visitor", True, marks=pytest.mark.trial),
        ("other", True),
        pytest.param("staff", True, marks=pytest.mark.trial),
    ],
)
def test_no_request_shows_or_changes_objects_of_other_users(world, known, role, with_every_form):
    other = a_person_with_everything("Eve")
    if role == "staff":
        User.objects.filter(pk=other.person.pk).update(is_staff=True)
    actor = Actor(None if role == "visitor" else User.objects.get(pk=other.person.pk))
    made = [*requests(known, world.values), *api_calls(world, other)]
    if not with_every_form:
        made = list({(call.method, call.path): call for call in made}.values())
    walked = walk(actor, world, known, made, is_staff=role == "staff")
    operations = {(call.method.upper(), call.path) for call in made if is_of_program(call)}
    counts = f"{len(known)} URL patterns, {len(operations)} operations of APIs, {walked.requests} requests"
    print(f"{role}: {counts}, {walked.checksums.tables} tables")
    assert not walked.problems, f"{len(walked.problems)} problems:\n" + "\n".join(walked.problems)
    assert len(known) >= PATTERNS
    assert len(operations) >= OPERATIONS


@pytest.mark.parametrize("share", [8, pytest.param(1, marks=pytest.mark.trial)], ids=["an eighth", "all"])
def test_odd_parameters_are_no_server_errors(world, known, share):
    actor = Actor(a_user("eve", is_staff=True, is_superuser=True))
    walked = Walk(actor, world, is_staff=True)
    for call in list(odd_requests(known, world.values))[::share]:
        walked.attempt(call, may_change=True)
    errors = [problem for problem in walked.problems if ": answers 5" in problem]
    assert not errors, "\n".join(errors)
    assert walked.requests > PATTERNS / share


# --- the walk itself --------------------------------------------------------------------------------------------------
def test_every_url_pattern_has_an_entry(known):
    operations = {f"rest:{each['operationId']}" for path in interface.get_openapi_schema()["paths"].values()
                  for each in path.values()}  # fmt: skip
    names = {pattern.name for pattern in known}
    missing = {pattern.name for pattern in known if not pattern.kind} - operations
    assert not missing, f"Say in walk/entries.py what these take: {sorted(missing)}"
    described = {name for entries in ENTRIES.values() for name in entries}
    assert described <= names, f"No URL pattern is called so: {sorted(described - names)}"


def test_a_parameter_without_a_value_is_an_error(world):
    with pytest.raises(KeyError, match="wombat_id"):
        Pattern("wombat", "wombats/<int:wombat_id>/", "", ("wombat_id",), has_plain_routes=True).path(world.values)


def test_the_walk_detects_shown_and_changed_objects(world, known):
    walked = Walk(Actor(world.owner.person), world)
    walked.checksums = Checksums(None)
    walked.before = walked.checksums.read()
    made = {call.name: call for call in requests(known, world.values)}
    walked.attempt(made["shares GET"])
    walked.attempt(made["mark starred=yes POST"])
    assert [problem.split("): ")[1].split()[0] for problem in walked.problems[:1] + walked.problems[-1:]] == [
        "shows",
        "changed",
    ]


def test_its_owner_may_make_each_request(world, known):
    """Otherwise a refusal of others would say nothing: the request itself could be wrong."""
    owner = world.owner.person
    owner.is_superuser = owner.is_staff = True
    owner.save()
    Authenticator.objects.filter(user=owner).delete()
    walked, refused = Walk(Actor(owner), world), []
    of_owner = {pattern.name for pattern in known if pattern.kind in {"page", "staff"}} - REFUSED_TO_ALL
    for call in requests(known, world.values):
        if call.is_of_owner and call.name.split()[0] in of_owner:
            status = walked.attempt(call, may_change=True).status_code
            if status >= 400 and status != 405:
                refused.append(f"{call.method} {call.path} ({call.name}): {status}")
    errors = [problem for problem in walked.problems if ": answers 5" in problem]
    assert not refused + errors, "\n".join(refused + errors)
