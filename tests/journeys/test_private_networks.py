"""No endpoint connects to a private network or reveals what listens there, however the address is given."""

import json
import re
import socket
import time
from collections.abc import Callable, Sequence
from zlib import crc32

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions import make_token
from apps.alerts.actions.delivering import deliver
from apps.alerts.actions.rules import MAX_A_DAY, set_notification_settings
from apps.alerts.models import Browser, Message, Rule
from apps.alerts.queries.messages import due
from apps.retrieval.actions import adding, adopt_sources
from apps.retrieval.models import Page, Retrieval
from apps.retrieval.worker.engine import Engine
from apps.sources.actions.editing import add_source
from apps.sources.algorithms.addresses import absolute
from apps.sources.models import Source
from apps.websub.actions import maintain
from apps.websub.models import Subscription
from lab.worlds.leases import lease
from lab.worlds.receivers import base64url
from lab.worlds.synthetic import make_feeds
from tests.apps.alerts.delivering import a_browser, a_person, a_search, find
from tests.apps.retrieval.retrieving import retrieve_now
from tests.apps.websub.hub import Answer, serving
from tests.builders import a_schedule, a_source, a_user
from tests.journeys.endpoints import ENDPOINTS, fetch_as_test
from tests.journeys.private_networks import (
    MALFORMED,
    PUBLIC,
    REBOUND,
    REFUSED,
    Listener,
    name_server,
    settings_of,
    watching,
)
from tests.web import HTML, RSS, replaying, serving_pages

pytestmark = pytest.mark.django_db(transaction=True)

REFUSAL = re.compile(r"private or reserved network|refused_address|cannot be called")
COMPLAINT = re.compile(r"http|address|host|feed|refused|called", re.IGNORECASE)  # of invalid addresses
DIFFERENT = {"add", "own interface", "picture", "webhook"}  # in how they reach the network; the others share their code
VARYING = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|nonce="[^"]+"|[\d,.]+\s*m?s\b|\d\d:\d\d:\d\d UTC')


@pytest.fixture(scope="session", params=["deploy", pytest.param("up", marks=pytest.mark.trial)])
def installation(request, tmp_path_factory):
    return settings_of(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def refused(request) -> Sequence[str]:
    """All of REFUSED for pictures and in the trial; other tests try a sixteenth each, as all check them alike."""
    given = request.node.callspec.params
    is_of_pictures = given.get("endpoint") == "picture" and "redirect" not in request.node.name
    if given["installation"] == "up" or is_of_pictures:
        return REFUSED
    return REFUSED[crc32(request.node.name.encode()) % 16 :: 16]


@pytest.fixture(autouse=True)
def installed(installation, settings, monkeypatch):
    for name, value in installation.items():
        setattr(settings, name, value)
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    settings.RETRIEVAL_HOST_GAP = 0
    monkeypatch.setattr(adding, "MAX_LOOKUPS", 100_000)
    monkeypatch.setattr(socket, "getaddrinfo", name_server())
    assert socket.getaddrinfo(REBOUND, 80)[0][4][0] == PUBLIC  # what any check beforehand would see


@pytest.fixture
def ports():
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture
def watch():
    with watching() as watch:
        yield watch


@pytest.fixture
def person():
    person = a_user("ada", email="ada@reader.example", is_staff=True, is_superuser=True)
    person.secret = make_token(person, "program", ["read", "write"], now=timezone.now())[1]
    return person


@pytest.fixture
def client(person):
    client = Client(headers={"X-Forwarded-Proto": "https"})
    client.force_login(person)
    return client


@pytest.fixture
def engine():
    engine = Engine()
    yield engine
    engine.stop()


@pytest.fixture
def hub(watch):
    """A publisher that the portal may reach."""
    with serving() as hub, lease(f".push.localhost:{hub.port}"):
        watch.own_ports.add(hub.port)
        yield hub


def to_header(text: str) -> str:
    """Letters that a line of Latin-1 cannot hold, as publishers send them: UTF-8."""
    return text.encode().decode("latin-1")


# --- addresses from users and programs ------------------------------------------------------------------------------
@pytest.fixture
def responses_of(client, person, ports) -> Callable:
    """Responses of an endpoint for an address on the open and the closed port, without what always varies."""
    a_search(person, webhook_url="https://hooks.example/")

    def responses_of(endpoint: str, template: str) -> list[tuple[int, str]]:
        responses = []
        for port in (ports.open, ports.closed):
            answer = ENDPOINTS[endpoint](client, person, template.format(port=port))
            text = VARYING.sub("", answer.content.decode()).replace(str(port), "PORT")
            responses.append((answer.status_code, text))
        return responses

    return responses_of


@pytest.mark.parametrize(
    "endpoint",
    [name if name in DIFFERENT else pytest.param(name, marks=pytest.mark.trial) for name in ENDPOINTS],
)
def test_a_private_address_is_not_reached_and_nothing_is_revealed(endpoint, refused, responses_of, ports, watch):
    for template in refused:
        on_open, on_closed = responses_of(endpoint, template)
        assert REFUSAL.search(on_open[1]), (template, on_open)
        assert on_open == on_closed, (template, set(on_open[1].splitlines()) ^ set(on_closed[1].splitlines()))
    for template in MALFORMED:
        on_open, on_closed = responses_of(endpoint, template)
        assert COMPLAINT.search(on_open[1]), (template, on_open)
        assert on_open == on_closed, (template, set(on_open[1].splitlines()) ^ set(on_closed[1].splitlines()))
    assert (watch.connects, ports.taken) == ([], 0)


@pytest.mark.parametrize("endpoint", ["add", "list by address", "own interface", "picture"])
def test_a_redirect_into_a_private_network_is_not_followed(endpoint, refused, responses_of, ports, watch, hub):
    for number, template in enumerate(refused):
        for port in (ports.open, ports.closed):
            hub.pages[f"/{number}/{port}"] = Answer(302, {"Location": to_header(template.format(port=port))})
        on_open, on_closed = responses_of(endpoint, hub.url(f"/{number}") + "/{port}")
        assert REFUSAL.search(on_open[1]), (template, on_open)
        assert on_open == on_closed, (template, set(on_open[1].splitlines()) ^ set(on_closed[1].splitlines()))
    assert len(set(hub.requested) - {"/robots.txt"}) == 2 * len(refused)
    assert (watch.connects, ports.taken) == ([], 0)


def test_a_browser_at_a_private_address_is_refused(client, refused, ports, watch):
    keys = {"p256dh": base64url(b"\4" * 65), "auth": base64url(b"s" * 16)}
    for template in refused:
        answers = []
        for port in (ports.open, ports.closed):
            content = json.dumps({"endpoint": template.format(port=port), "keys": keys})
            answer = client.post(reverse("alert_add_browser"), content, content_type="application/json")
            answers.append((answer.status_code, answer.content))
        assert answers[0] == answers[1], template
        assert answers[0][0] == 400, template
    assert (watch.connects, ports.taken) == ([], 0)


# --- addresses from publishers -------------------------------------------------------------------------------------
def retrieved(engine: Engine, url: str, **values) -> Retrieval:
    """The only retrieval of a new source, with all pages that follow from it."""
    source_id = add_source(Source(url=url, always_retrieved=True, min_gap=0))
    Source.objects.filter(pk=source_id).update(**values)
    adopt_sources(now=timezone.now())
    retrieval = retrieve_now(engine, source_id)
    while engine.fetch_batch(source_id):
        pass
    return retrieval


@pytest.fixture
def addresses(request, ports) -> list[str]:
    """All, each with an open and with a closed port, in the trial; else a third, each with one of the two ports."""
    both = (ports.open, ports.closed)
    if request.node.callspec.params["installation"] == "up":
        return [template.format(port=port) for template in REFUSED for port in both]
    some = REFUSED[crc32(request.node.name.encode()) % 3 :: 3]
    return [template.format(port=both[at % 2]) for at, template in enumerate(some)]


def test_a_source_at_a_private_address_is_not_fetched(engine, addresses, ports, watch):
    retrievals = [retrieved(engine, address) for address in addresses]
    assert {(each.outcome, each.message, each.begun_at) for each in retrievals} == {
        ("refused", "The address is in a private or reserved network, which is not allowed.", None)
    }
    assert (watch.connects, ports.taken) == ([], 0)


def test_a_source_that_moves_to_a_private_address_is_not_followed(engine, addresses, ports, watch, hub):
    for number, address in enumerate(addresses):
        hub.pages[f"/{number}"] = Answer(301, {"Location": to_header(address)})
        assert retrieved(engine, hub.url(f"/{number}")).outcome == "refused", address
    assert not Source.objects.exclude(url__startswith=hub.url("/")).exists()
    assert (watch.connects, ports.taken) == ([], 0)


def test_pages_of_postings_are_not_fetched_from_private_addresses(engine, addresses, ports, watch):
    items = "".join(
        f"<item><guid>{number}</guid><title>News</title><link>{address.replace('&', '&amp;')}</link></item>"
        for number, address in enumerate(addresses)
    )
    feed = f"<rss version='2.0'><channel><title>News</title>{items}</channel></rss>".encode()
    with serving_pages({"/feed": (RSS, feed)}) as web:
        watch.own_ports.add(web.port)
        assert retrieved(engine, web.url("/feed"), full_text=True).outcome == "new"
    pages = Page.objects.all()
    assert len(pages) > 0.6 * len(addresses)
    assert {page.reason for page in pages} == {pages[0].reason}
    assert "robots.txt" in pages[0].reason  # which cannot be read there either
    assert (watch.connects, ports.taken) == ([], 0)


def test_a_crawl_does_not_leave_for_private_addresses_that_are_named(engine, addresses, ports, watch, hub):
    """By links, by the sitemaps that robots.txt names, and by what stands in these."""
    links = "".join(f"<li><a href='{address}'>A headline of {address}</a></li>" for address in addresses)
    links += "<li><a href='/world/story'>A headline of the site itself</a></li>"
    hub.pages["/"] = Answer(headers={"Content-Type": HTML}, body=f"<html><body><ul>{links}</ul>".encode())
    named = "".join(f"Sitemap: {address}\n" for address in [hub.url("/sitemap"), *addresses])
    hub.pages["/robots.txt"] = Answer(headers={"Content-Type": "text/plain"}, body=named.encode())
    located = "".join(f"<url><loc>{address.replace('&', '&amp;')}</loc></url>" for address in addresses)
    hub.pages["/sitemap"] = Answer(headers={"Content-Type": "text/xml"}, body=f"<urlset>{located}</urlset>".encode())
    retrieved(engine, hub.url("/"), kind="site")
    assert set(hub.requested) == {"/robots.txt", "/", "/sitemap", "/world/story"}
    assert (watch.connects, ports.taken) == ([], 0)


def test_a_crawl_does_not_follow_pages_to_private_addresses(engine, addresses, ports, watch, hub):
    paths = [f"/world/story-of-{number}" for number, _ in enumerate(addresses)]
    links = "".join(f"<li><a href='{path}'>A headline that leads to {path}</a></li>" for path in paths)
    hub.pages["/"] = Answer(headers={"Content-Type": HTML}, body=f"<html><body><ul>{links}</ul>".encode())
    for path, address in zip(paths, addresses, strict=True):
        hub.pages[path] = Answer(302, {"Location": to_header(address)})
    retrieved(engine, hub.url("/"), kind="site")
    assert set(paths) <= set(hub.requested)
    assert (watch.connects, ports.taken) == ([], 0)


def test_a_podcast_on_pages_is_not_followed_to_a_private_address(engine, addresses, ports, watch, hub):
    for number, address in enumerate(addresses):
        body = f"<a class='latest' href='{address}'>Latest</a>".encode()
        hub.pages[f"/{number}"] = Answer(headers={"Content-Type": HTML}, body=body)
        recipe = {"more": "//a[@class='latest']\n//audio"}
        assert retrieved(engine, hub.url(f"/{number}"), kind="scrape", recipe=recipe).outcome != "new"
    assert (watch.connects, ports.taken) == ([], 0)


def test_icons_are_not_fetched_from_private_addresses(engine, addresses, ports, watch, hub):
    """Named by a feed, as its site, by a page, by a web manifest, and by redirects."""
    now = timezone.now()
    for number, address in enumerate(addresses):
        listed = json.dumps({"icons": [{"src": address}]}).encode()
        head = f"<head><link rel=icon href='{address}'><link rel=manifest href='/{number}/manifest'>".encode()
        hub.pages[f"/{number}/"] = Answer(headers={"Content-Type": HTML}, body=head)
        hub.pages[f"/{number}/manifest"] = Answer(headers={"Content-Type": "application/json"}, body=listed)
        hub.pages[f"/{number}/moved"] = Answer(302, {"Location": to_header(address)})
        sites = (address, hub.url(f"/{number}/"), hub.url(f"/{number}/moved"))
        for kind, site_url in enumerate(sites):
            source = a_source(url=hub.url(f"/feed/{number}/{kind}"), site_url=site_url, image_url=address)
            a_schedule(source, observed_at=now)
    engine.find_icons(Source.objects.values_list("pk", flat=True))
    assert {f"/{number}/manifest" for number, _ in enumerate(addresses)} <= set(hub.requested)
    assert not Source.objects.filter(icon_failures=0).exists()
    assert (watch.connects, ports.taken) == ([], 0)


@pytest.mark.parametrize("prefix", ["", "rsscloud+"])
def test_a_hub_at_a_private_address_is_not_called(prefix, settings, addresses, ports, watch):
    settings.PUSH_MODE, settings.PROJECT_URL = "on", "https://portal.example"
    for address in addresses:
        source = a_source(always_retrieved=True)
        a_schedule(source, hub_url=f"{prefix}{address}", topic_url=source.url)
    while maintain(now=timezone.now()):
        pass
    subscriptions = Subscription.objects.all()
    assert len(subscriptions) > 0.7 * len(addresses)
    assert {each.last_error for each in subscriptions} == {subscriptions[0].last_error}
    assert "private or reserved network" in subscriptions[0].last_error
    assert (watch.connects, ports.taken) == ([], 0)


def test_messages_are_not_delivered_to_private_addresses(addresses, ports, watch):
    person = a_person()
    saved = a_search(person, webhook_url="https://hooks.example/", push=True)
    a_browser(person, "https://push.example/1")
    set_notification_settings(person, most_a_day=MAX_A_DAY)
    for address in addresses:
        Rule.objects.update(webhook_url=address)
        if "[" not in address:  # the library that signs takes no IPv6
            Browser.objects.update(endpoint=absolute(address))
        find(saved, now=timezone.now())
        for message_id in due(timezone.now()):
            deliver(message_id, now=timezone.now())
    attempted = Message.objects.filter(attempts__gt=0)
    assert len(attempted) > 1.4 * len(addresses)
    assert {message.error for message in attempted} == {
        "Its address is in a private or reserved network; nothing was sent."
    }
    assert (watch.connects, ports.taken) == ([], 0)


# --- a name that changes while it is used, and a replay -------------------------------------------------------------
def test_a_name_that_changes_between_two_retrievals_is_refused(client, person, ports, watch, monkeypatch):
    connect = socket.socket.connect

    def without_internet(self, address):
        if address[0] == PUBLIC:
            raise OSError(101, "Network is unreachable")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", without_internet)
    monkeypatch.setattr(socket, "getaddrinfo", name_server())
    address = f"http://{REBOUND}:{ports.open}/"
    assert "Network is unreachable" in fetch_as_test(client, person, address).text
    assert REFUSAL.search(fetch_as_test(client, person, address).text)
    assert (watch.connects, ports.taken) == ([], 0)


def test_while_a_replay_runs_its_port_alone_is_reachable(refused, responses_of, ports, watch):
    now = time.time()
    with replaying(make_feeds(1, seed=1, begin=now - 86_400, end=now)) as replay:
        watch.own_ports.add(replay.addresses.port)
        answer, _ = responses_of("add", f"{replay.addresses.feed(1)}?")
        assert not REFUSAL.search(answer[1])
        answered = replay.requests_answered
        assert answered
        for host in ("127.0.0.1", "localhost", "s1.localhost", "replay.localhost", "s1.replay.localhost.example"):
            answer, _ = responses_of("picture", f"http://{host}:{replay.addresses.port}/feed")
            assert "refused_address" in answer[1] or "(dns)" in answer[1], host
        for template in refused:
            on_open, on_closed = responses_of("picture", template)
            assert REFUSAL.search(on_open[1]), template
            assert on_open == on_closed, (template, set(on_open[1].splitlines()) ^ set(on_closed[1].splitlines()))
        assert replay.requests_answered == answered
    answer, _ = responses_of("picture", replay.addresses.feed(1))
    assert "refused_address" in answer[1]
    assert (watch.connects, ports.taken) == ([], 0)
