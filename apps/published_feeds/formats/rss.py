"""RSS 2.0: https://www.rssboard.org/rss-specification."""

from email.utils import format_datetime

from apps.published_feeds.formats.feed import Feed
from apps.published_feeds.formats.xml import template

MEDIA_TYPE = "application/rss+xml"
TTL_MINUTES = 30
_RSS = template("rss.xml", beside=__file__)


def write(feed: Feed) -> bytes:
    return _RSS.render(feed=feed, ttl_minutes=TTL_MINUTES, written=format_datetime).encode()
