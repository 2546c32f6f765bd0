import pytest

from apps.postings.algorithms.trackers import is_tracker, is_unseen, without_tracking


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.org/a?utm_source=rss", "https://example.org/a"),
        ("https://example.org/a?id=1&utm_source=rss&page=2#top", "https://example.org/a?id=1&page=2#top"),
        ("https://example.org/a?UTM_Medium=feed#utm_x", "https://example.org/a#utm_x"),
        ("https://example.org/a?id=a?fbclid=1", "https://example.org/a?id=a?fbclid=1"),
        ("https://example.org/a?q=utm_source%3D1", "https://example.org/a?q=utm_source%3D1"),
        ("https://example.org/a?", "https://example.org/a?"),
        ("https://example.org/a?b&&c=", "https://example.org/a?b&&c="),
        ("/a?gclid=1", "/a"),
        ("", ""),
    ],
)
def test_a_link_without_tracking_is(address: str, expected: str) -> None:
    assert without_tracking(address) == expected
    assert without_tracking(expected) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://doubleclick.net/x", True),
        ("https://ad.doubleclick.net/x", True),
        ("https://notdoubleclick.net/x", False),
        ("https://doubleclick.net.example.org/x", False),
        ("https://www.facebook.com/tr?id=1", True),
        ("https://www.facebook.com/travel", False),
        ("http://feeds.feedburner.com/~ff/news?d=1", True),
        ("http://feeds.feedburner.com/news/logo.png", False),
        ("no address", False),
        ("", False),
    ],
)
def test_a_tracker_is_known_by_its_address(address: str, expected: bool) -> None:
    assert is_tracker(address) is expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, False),
        ({"width": "1"}, True),
        ({"height": "0px"}, True),
        ({"width": "10", "height": "11"}, False),
        ({"width": "100%"}, False),
        ({"hidden": ""}, True),
        ({"style": "color:red; DISPLAY : None"}, True),
        ({"style": "height:1px"}, True),
        ({"style": "max-width: 1px"}, False),
        ({"style": "width:100%;height:10px"}, False),
    ],
)
def test_a_picture_is_unseen(attributes: dict[str, str], expected: bool) -> None:
    assert is_unseen(attributes) is expected
