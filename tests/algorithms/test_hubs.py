"""Discovery of hubs in headers, feeds and pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.algorithms.hubs import Announcer, discover
from apps.sources.formats import parse
from apps.sources.formats.feed import Cloud, ParsedFeed

URL = "https://news.example/feed"
HUBS = ("https://hub.example/", "https://other.example/")
NO_ANNOUNCER = Announcer()


def in_header(link: str) -> Announcer:
    return discover(link, None, b"", URL)


def in_page(head: str, body: str = "") -> Announcer:
    return discover("", None, f"<html><head>{head}</head><body>{body}</body></html>".encode(), URL)


class TestHeaders:
    def test_name_hubs_in_their_order_and_each_once(self):
        link = ", ".join(f'<{hub}>; rel="hub"' for hub in (*HUBS, *HUBS))
        assert in_header(link).hub_urls == HUBS

    def test_name_what_is_relative_to_where_they_came_from(self):
        assert in_header('</hub>; rel=hub, <news>; rel="self"') == Announcer(
            ("https://news.example/hub",), "https://news.example/news"
        )

    def test_may_say_several_relations_at_once(self):
        assert in_header('<https://one.example/>; rel="nofollow HUB self"') == Announcer(
            ("https://one.example/",), "https://one.example/"
        )

    def test_without_a_name_of_the_topic_mean_the_address_itself(self):
        assert in_header('<https://hub.example/>; rel="hub"').topic_url == URL

    @pytest.mark.parametrize(
        "link",
        [
            "",
            "garbage",
            '<https://hub.example/>; rel="self"',
            '<javascript:alert(1)>; rel="hub"',
            '<>; rel="hub"',
            '<https://hub.example/>; rel="hub"; anchor="https://elsewhere.example/"',
            f'<https://hub.example/{"x" * 3_000}>; rel="hub"',
        ],
    )
    def test_without_a_hub_have_no_announcer(self, link):
        assert in_header(link) == NO_ANNOUNCER

    def test_go_before_the_document_for_each_relation(self):
        feed = ParsedFeed("rss", hub_urls=HUBS[1:], self_url="https://news.example/self")
        only_hub = discover(f'<{HUBS[0]}>; rel="hub"', feed, b"", URL)
        assert (only_hub.hub_urls, only_hub.topic_url) == (HUBS[:1], "https://news.example/self")
        only_self = discover('<https://news.example/header>; rel="self"', feed, b"", URL)
        assert (only_self.hub_urls, only_self.topic_url) == (HUBS[1:], "https://news.example/header")


class TestPages:
    def test_name_hubs_in_their_head(self):
        found = in_page('<base href="/deep/"><link rel="hub" href="https://hub.example/"><link rel="self" href="news">')
        assert found == Announcer(("https://hub.example/",), "https://news.example/deep/news")

    def test_are_ignored_in_the_body_of_a_page(self):
        """Which commenters may write."""
        assert in_page("", '<link rel="hub" href="https://evil.example/"><a rel="hub" href="/">hub</a>') == NO_ANNOUNCER


class TestClouds:
    def cloud(self, **attributes: str) -> Announcer:
        given = {"domain": "rpc.example", "port": "5337", "path": "/pleaseNotify", "protocol": "http-post"} | attributes
        written = " ".join(f'{name}="{value}"' for name, value in given.items())
        feed = parse(f"<rss version='2.0'><channel><title>News</title><cloud {written}/></channel></rss>".encode())
        return discover("", feed, b"", URL)

    def test_are_called_by_http(self):
        found = self.cloud()
        assert found.cloud == Cloud("rpc.example", 5337, "/pleaseNotify", "http-post")
        assert (found.hub_url, found.topic_url) == ("rsscloud+http://rpc.example:5337/pleaseNotify", URL)

    @pytest.mark.parametrize(
        ("attributes", "address"),
        [
            ({"port": "443"}, "https://rpc.example/pleaseNotify"),
            ({"protocol": "https-post"}, "https://rpc.example:5337/pleaseNotify"),
            ({"port": "80", "path": "?rsscloud=notify"}, "http://rpc.example/?rsscloud=notify"),
            ({"protocol": "HTTP-POST", "port": ""}, "http://rpc.example/pleaseNotify"),
        ],
    )
    def test_are_found_as_they_are_written(self, attributes, address):
        assert self.cloud(**attributes).hub_url == f"rsscloud+{address}"

    @pytest.mark.parametrize(
        "attributes",
        [
            {"protocol": "xml-rpc"}, {"protocol": "soap"}, {"domain": ""}, {"domain": "a b"}, {"domain": "x/y@z"},
            {"port": "99999"}, {"port": "-1"}, {"port": "http"},
        ],
    )  # fmt: skip
    def test_without_http_have_no_announcer(self, attributes):
        assert self.cloud(**attributes) == NO_ANNOUNCER

    def test_come_after_hubs(self):
        feed = ParsedFeed("rss", hub_urls=HUBS, cloud=Cloud("rpc.example", 80, "/", "http-post"))
        assert discover("", feed, b"", URL).hub_url == HUBS[0]

    def test_of_a_broken_feed_and_of_json_are_found_too(self):
        broken = (
            b"<rss><channel><title>News & more<b></title><cloud domain='rpc.example' path='/x' protocol='http-post'/>"
        )
        json = b'{"version": "jsonfeed", "title": "x", "items": [], "hubs": [%s]}'
        hubs = (
            b'{"type": "rssCloud", "url": "https://rpc.example/x?y"}, {"type": "WebSub", "url": "https://hub.example/"}'
        )
        assert discover("", parse(broken), b"", URL).hub_url == "rsscloud+http://rpc.example/x"
        feed = parse(json % hubs)
        assert feed.hub_urls == ("https://hub.example/",)
        assert feed.cloud == Cloud("rpc.example", 443, "/x?y", "http-post")


@given(st.text(max_size=300), st.binary(max_size=300))
def test_no_input_raises(link, body):
    for answer in (body, b"<head><link rel=hub href='" + body):
        found = discover(link, None, answer, URL)
        assert all(hub.startswith(("http://", "https://")) for hub in found.hub_urls)
        assert bool(found.topic_url) == bool(found.hub_urls)
