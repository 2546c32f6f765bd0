"""Feeds serialized as RSS, Atom and JSON Feed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apps.published_feeds.formats import atom, json_feed, rss
from apps.published_feeds.formats.feed import Feed


@dataclass(frozen=True, slots=True)
class Form:
    name: str  # in addresses
    label: str
    media_type: str
    write: Callable[[Feed], bytes]


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form("rss", "RSS", rss.MEDIA_TYPE, rss.write),
        Form("atom", "Atom", atom.MEDIA_TYPE, atom.write),
        Form("json", "JSON", json_feed.MEDIA_TYPE, json_feed.write),
    )
}
