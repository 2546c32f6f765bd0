"""Who may keep an answer: every address states it, and every answer says it."""

import re
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse

from apps.accounts.actions import make_token
from apps.following.models import Tag
from portal.caching import PERSONAL, PROGRAM, SECRET, STATED_BY_VIEW, caching_of
from tests.builders import NOON, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


def patterns(found=None, route="", namespace="") -> Iterator[tuple[str, str]]:
    for pattern in get_resolver().url_patterns if found is None else found:
        here = route + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from patterns(pattern.url_patterns, here, inner)
        else:
            assert isinstance(pattern, URLPattern)
            yield here, f"{namespace}{pattern.name or ''}"


PATTERNS = list(patterns())
SHADOWED = "/accounts/oidc/auth/login/"  # our own view stands before that of allauth


def an_address(route):
    """An address that the route leads to, with the first number and some words in its places."""
    route = route.replace("[/]*", "").replace("(?:api/greader\\.php/+)?", "").replace("(?:/+(?P<stream>.*))?", "")
    route = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", "auth", route)
    for converter, value in {"int": "1", "slug": "world", "str": "some", "path": "1"}.items():
        route = re.sub(rf"<{converter}:\w+>", value, route)
    route = re.sub(r"<\w+>", "1", route)
    return "/" + re.sub(r"[\^$\\]|/\*", "", route).replace("/+", "/")


@pytest.fixture
def admin(client):
    """A superuser, who gets the furthest, with a thing of most kinds of their own."""
    user = a_user(is_staff=True, is_superuser=True)
    follow = a_follow(user, a_source(listed=True))
    a_posting(follow.source)
    Tag.objects.create(user=user, name="a")
    client.force_login(user)
    client.raise_request_exception = False
    return user


def test_every_address_states_who_may_keep_its_answers():
    assert [name or route for route, name in PATTERNS if caching_of(route, name) is None] == []


@pytest.mark.parametrize("share", [8, pytest.param(1, marks=pytest.mark.trial)], ids=["an eighth", "all"])
def test_every_response_has_cache_control(client, admin, share):
    secret = make_token(admin, "phone", ["read", "write"], now=NOON)[1]
    wrong = []
    for route, name in PATTERNS[::share]:
        expected, address = caching_of(route, name), an_address(route)
        assert address == SHADOWED or resolve(address).route == route.replace("/^", "/"), address
        headers = {"authorization": f"Bearer {secret}"} if expected is PROGRAM else {}
        if "_auth_user_id" not in client.session:  # one of the addresses signs out
            client.force_login(admin)
        for answer in (client.get(address, headers=headers), client.post(address, headers=headers)):
            control, vary = answer.get("Cache-Control", ""), answer.get("Vary", "")
            is_stated = control == expected.control or "no-store" in control if expected.control else control
            if not is_stated or not all(header in vary for header in expected.vary):
                wrong.append((address, answer.status_code, control, vary))
    assert not wrong


@pytest.mark.parametrize("name", ["river", "home", "trends", "dashboard"])
def test_a_personal_page_is_cached_by_the_browser_alone(client, admin, name):
    answer = client.get(reverse(name))
    assert answer["Cache-Control"] == PERSONAL.control == "private, no-cache"
    assert "Cookie" in answer["Vary"]


@pytest.mark.parametrize(
    "name",
    [
        *("account", "app_tokens", "invitations", "archive", "private_addresses", "opml_export", "shares"),
        *("account_login", "account_email", "mfa_index", "usersessions_list", "admin:index", "offline_list"),
    ],
)
def test_secrets_exports_and_account_pages_are_not_cached(client, admin, name):
    assert "no-store" in client.get(reverse(name))["Cache-Control"]
    assert "no-store" in SECRET.control


def test_a_page_that_does_not_exist_is_personal(client, admin):
    answer = client.get("/no/such/page/")
    assert (answer.status_code, answer["Cache-Control"]) == (404, "private, no-cache")
    assert "Cookie" in answer["Vary"]


def test_an_exception_that_finds_nothing_is_personal(client, admin):
    """The page that says so shows who is signed in."""
    answer = client.get(reverse("private_feed", args=["wrong", "rss"]))
    assert (answer.status_code, answer["Cache-Control"]) == (404, "private, no-cache")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/static/css/base.css", "public"),
        ("/manifest.webmanifest", "max-age=3600"),
        ("/worker.js", "no-cache"),
    ],
)
def test_public_responses_may_be_cached(client, admin, address, expected):
    answer = client.get(address)
    assert answer.status_code == 200
    assert expected in answer["Cache-Control"]
    assert "private" not in answer["Cache-Control"]


def test_an_unknown_url_is_not_cached(client, admin, monkeypatch):
    monkeypatch.delitem(__import__("portal.caching").caching._BY_NAME, "river")
    assert client.get(reverse("river"))["Cache-Control"] == SECRET.control


def test_the_exceptions_are_these():
    """A longer list should be a deliberate decision."""
    assert {name for route, name in PATTERNS if caching_of(route, name) is STATED_BY_VIEW} == {
        *("live", "ready", "metrics", "image", "recording", "feed_icon", "manifest", "service_worker", "offline_shell"),
        *("private_sources", "private_feed", "search_feed", "section_feed"),
    }
