"""The duties of a WebSub subscriber, case by case as websub.rocks numbers and checks them."""

import pytest

from apps.postings.models import Posting
from apps.websub.actions import maintain, work
from apps.websub.models import Delivery, Subscription
from tests.apps.retrieval.retrieving import NOW, a_feed
from tests.apps.websub.conftest import a_named_source, a_source_at, subscribed
from tests.apps.websub.hub import CHALLENGE, Answer, Hub

pytestmark = pytest.mark.django_db

RSS = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>News</title>{links}</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>{links}</feed>"""
LINKS = '<{link} rel="hub" href="{hub}"/><{link} rel="self" href="{topic}"/>'
TO_HUB = '<{hub}>; rel="hub", <{topic}>; rel="self"'


def rss(links: str = LINKS) -> str:
    return RSS.replace("{links}", links.replace("{link}", "atom:link"))


def requests(hub) -> list[tuple[str, str]]:
    """The paths of requests to subscribe, with their topics."""
    return [(path, form["hub.topic"]) for path, form in hub.forms if form["hub.mode"] == "subscribe"]


class TestDiscovery:
    def test_100_by_http_headers(self, hub):
        a_source_at(hub.put("/topic", rss(""), Link=TO_HUB))
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic"))]

    def test_101_by_links_in_the_head_of_a_page(self, hub):
        page = f"<html><head>{LINKS.replace('{link}', 'link')}</head><body><p>News</p></body></html>"
        a_source_at(hub.put("/topic", page, Content_Type="text/html"))
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic"))]

    def test_102_by_links_in_an_atom_feed(self, hub):
        a_source_at(hub.put("/topic", ATOM.replace("{links}", LINKS.replace("{link}", "link"))))
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic"))]

    def test_103_by_links_in_an_rss_feed(self, hub):
        a_source_at(hub.put("/topic", rss()))
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic"))]

    def test_104_headers_go_before_the_document(self, hub):
        links = LINKS.replace("{hub}", "{other}").replace("{topic}", "{elsewhere}")
        a_source_at(hub.put("/topic", rss(links), Link=TO_HUB))
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic"))]


class TestSubscribing:
    def test_200_to_the_name_that_the_topic_gives_itself(self, hub):
        a_source_at(hub.put("/found-here", rss()))
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic"))]

    @pytest.mark.parametrize("status", [pytest.param(302, id="201"), pytest.param(301, id="202")])
    def test_to_where_a_topic_has_moved(self, hub, status):
        hub.put("/topic", rss())
        a_source_at(hub.put("/old", status=status, Location="{topic}"))
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic"))]

    @pytest.mark.parametrize("status", [pytest.param(307, id="203"), pytest.param(308, id="204")])
    def test_at_where_a_hub_has_moved(self, hub, client, status):
        a_source_at(hub.put("/topic", rss()))
        hub.answers["/hub"] = Answer(status, {"Location": "/new-hub"})
        maintain(now=NOW)
        assert requests(hub) == [("/hub", hub.url("/topic")), ("/new-hub", hub.url("/topic"))]
        assert hub.forms[0][1] == hub.forms[1][1]
        assert hub.verify(client).content.decode() == CHALLENGE

    def test_205_is_confirmed_for_no_other_topic(self, hub, client):
        a_source_at(hub.put("/topic", rss()))
        maintain(now=NOW)
        assert hub.verify(client, topic=hub.url("/elsewhere")).status_code == 404
        assert Subscription.objects.get().state == "pending"
        answer = hub.verify(client)
        assert (answer.status_code, answer.content.decode()) == (200, CHALLENGE)
        assert answer["Content-Type"].startswith("text/plain")
        assert Subscription.objects.get().state == "active"


class TestDelivery:
    @pytest.fixture
    def hub(self, safe_hub, client) -> Hub:
        subscribed(a_named_source(safe_hub.url("/hub")), safe_hub, client)
        return safe_hub

    @pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
    def test_300_of_signed_content_is_taken(self, hub, client, method):
        assert hub.deliver(client, a_feed([NOW]), secret=hub.secret, method=method).status_code == 200
        work(Delivery.objects.get().pk, now=NOW)
        assert Posting.objects.get().title == "Posting 0"

    def test_301_with_a_wrong_signature_is_ignored_though_answered(self, hub, client):
        assert hub.deliver(client, a_feed([NOW]), secret="coffee").status_code == 200
        work(Delivery.objects.get().pk, now=NOW)
        assert not Posting.objects.exists()
        assert Delivery.objects.get().error == "Its signature is wrong."

    def test_302_without_a_signature_is_ignored_though_answered(self, hub, client):
        assert hub.deliver(client, a_feed([NOW])).status_code == 200
        work(Delivery.objects.get().pk, now=NOW)
        assert not Posting.objects.exists()
        assert Delivery.objects.get().error == "It is not signed."
