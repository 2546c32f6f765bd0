"""Articles in the exports of other readers, as the table in exports.toml describes them."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from apps.account_data.formats.problems import BadArchive
from apps.database.sanitizing import sanitize
from apps.sources.formats.dates import parse_date

MAX_FILE_BYTES = 30 * 10**6  # read at once
MAX_LENGTHS = {"html": 500_000, "guid": 2_000, "url": 2_000, "feed": 2_000}  # characters
MAX_OTHER_LENGTH = 1_000  # characters
MAX_TAGS = 50  # per article
MAX_SECONDS = 1e11  # since 1970; a larger number counts milliseconds, and one 1,000 times larger microseconds
EXPORTS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("exports.toml").read_text("utf-8"))
STATES = {"True": True, "true": True, "t": True, "1": True, "read": True, "False": False, "0": False, "unread": False}


class Article(NamedTuple):
    feed: str  # its address, "" if unknown
    feed_title: str
    guid: str
    url: str
    title: str
    author: str
    html: str  # not yet made safe
    published: datetime | None
    starred_at: datetime | None
    is_starred: bool
    is_read: bool | None  # None: unknown
    tags: list[str]


def read(name: str, data: bytes) -> tuple[list[Article], list[tuple[str, str]]]:
    """The articles of a file, and place and reason of those that are skipped; raises BadArchive with the place."""
    document = _xml(name, data) if data.lstrip()[:1] == b"<" else _json(name, data)
    export, items = _recognized(name, document)
    feeds = document.get("feeds") if isinstance(document, dict) else None
    listed = feeds.values() if isinstance(feeds, dict) else feeds if isinstance(feeds, list) else ()
    by_id = {str(feed.get("id")): feed for feed in listed if isinstance(feed, dict)}
    articles, skipped = [], []
    for number, item in enumerate(items, 1):
        values = item | {"feeds": by_id.get(str(item.get(export.get("feed_id"))))} if isinstance(item, dict) else {}
        article = _article(export, values)
        if article.url.startswith(("http://", "https://")):
            articles.append(article)
        else:
            skipped.append((f"{name}, article {number}", f"“{article.title[:100]}” has no web address."))
    return articles, skipped


def _recognized(name: str, document: Any) -> tuple[dict[str, Any], list[Any]]:
    for export in EXPORTS.values():
        found = document.get(export["articles"]) if isinstance(document, dict) else document
        if isinstance(found, list) and any(isinstance(item, dict) and export["known_by"] in item for item in found):
            return export, found
    known = ", ".join(export["label"] for export in EXPORTS.values())
    raise BadArchive(f"It has no articles in a known format, which are those of {known}.", name)


def _article(export: Mapping[str, Any], item: Mapping[str, Any]) -> Article:
    def value(name: str) -> Any:
        return next(filter(None, _values(item, export.get(name, ()))), None)

    texts: dict[str, Any] = {
        name: sanitize(str(value(name) or "")).strip()[: MAX_LENGTHS.get(name, MAX_OTHER_LENGTH)]
        for name in Article._fields[:7]
    }
    if texts["guid"].startswith("tag:google.com,2005:reader/item/"):  # of the reader, not of the feed
        texts["guid"] = ""
    texts["feed"] = texts["feed"].removeprefix("feed/")  # of Google Reader's streams
    is_starred = "starred" not in export or STATES.get(str(value("starred")), False)
    is_read = next((STATES.get(str(each)) for each in _values(item, export.get("read", ()))), None)
    labels = [tag for each in _values(item, export.get("tags", ())) for tag in _tags(each)]
    if "categories" in export:
        is_starred, is_read, labels = _states(next(_values(item, export["categories"]), None))
    tags = list(dict.fromkeys(tag for label in labels if (tag := sanitize(label).strip())))[:MAX_TAGS]
    texts |= {name: moment(value(name)) for name in ("published", "starred_at")}
    return Article(**texts, is_starred=is_starred, is_read=is_read, tags=tags)


def _states(categories: Any) -> tuple[bool, bool | None, list[str]]:
    """What the categories of a Google Reader item say: starred, read, and labels."""
    given = categories if isinstance(categories, list) else []
    parts = [tag.split("/", 3) for tag in given if isinstance(tag, str) and tag.startswith("user/")]
    states = {part[3].rpartition("/")[2] for part in parts if len(part) > 3 and part[2] == "state"}
    labels = [part[3] for part in parts if len(part) > 3 and part[2] == "label"]
    is_read = True if "read" in states else False if states & {"unread", "kept-unread"} else None
    return "starred" in states or not (labels or states), is_read, labels  # an export of stars need not say so of each


def _values(item: Any, paths: list[str]) -> Iterator[Any]:
    for path in paths:
        value = item
        for step in path.split("."):
            if isinstance(value, list):
                value = dict(enumerate(value)).get(int(step)) if step.isdigit() else None
            else:
                value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            yield value


def _tags(value: Any) -> list[str]:
    """A list of texts; text with commas; or labels of tt-rss as JSON, each a list with its name in the second place."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = [label[1] for label in json.loads(value)]
        except (ValueError, TypeError, LookupError, RecursionError):
            return []
    if isinstance(value, str):
        return value.split(",")
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def moment(value: Any) -> datetime | None:
    """A time as a number since 1970 or as text; None if it is neither.

    >>> moment("1714564800000000") == moment(1714564800) == moment("2024-05-01 12:00:00") == moment("2024-05-01T12:00Z")
    True
    """
    try:
        number = float(value)
        for _unit in ("ms", "µs"):
            number = number / 1_000 if number > MAX_SECONDS else number
        return datetime.fromtimestamp(number, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return parse_date(str(value))


def _json(name: str, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise BadArchive(f"It is not JSON: {error.msg} at column {error.colno}.", name, error.lineno) from None
    except (ValueError, RecursionError):
        raise BadArchive("It is not JSON in UTF-8.", name) from None


def _xml(name: str, data: bytes) -> Any:
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise BadArchive("It is not well-formed XML.", name, error.lineno or 0) from None
    return {str(root.tag): [{str(child.tag): child.text or "" for child in article} for article in root]}
