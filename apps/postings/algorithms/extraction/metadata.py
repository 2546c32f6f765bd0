"""Title, date, authors, picture and other metadata, as a page states them for programs, else as it shows them.

Sources in the order of trust: JSON-LD objects that are articles, meta elements (Open Graph, Twitter, Dublin Core and
what publishers made up), then elements with a descriptive attribute.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from html import unescape
from itertools import islice
from typing import Any, cast

from lxml import etree

from apps.postings.algorithms.extraction.words import EXPRESSIONS, letters
from apps.postings.algorithms.words.detection import scores
from apps.sources.algorithms.addresses import absolute
from apps.sources.algorithms.discovery import base_of
from apps.sources.formats.dates import parse_date
from apps.sources.formats.text import MAX_LANGUAGE, one_line, without_controls

NEWS_ARTICLES = frozenset({
    "newsarticle", "article", "reportagenewsarticle", "blogposting", "analysisnewsarticle", "opinionnewsarticle",
    "liveblogposting", "backgroundnewsarticle", "reviewnewsarticle",
})  # fmt: skip
ARTICLES = NEWS_ARTICLES | {
    "socialmediaposting", "report", "techarticle", "scholarlyarticle", "advertisercontentarticle", "satiricalarticle",
    "review",
}  # fmt: skip
LINKED_DATA = "application/ld+json"
PUBLISHED = ("article:published_time", "datepublished", "parsely-pub-date", "date", "pubdate", "dc.date.issued")
MAX_TITLE_LENGTH = 500  # characters
MAX_DESCRIPTION = 2_000
MAX_NAME = 59
MAX_AUTHORS = 20
DETECTED_FROM = 3_000  # characters

_PUBLISHED_OR_SO = (*PUBLISHED, "og:published_time", "publishdate", "publish_date", "publish-date", "sailthru.date",
                    "article.published", "published_time", "cxenseparse:recs:publishtime", "dc.date", "dc.date.created",
                    "dcterms.created", "article:published", "og:article:published_time", "last-modified")  # fmt: skip
_AUTHOR_NAMES = ("author", "byl", "dc.creator", "article:author", "parsely-author", "sailthru.author", "article.author",
                 "og:article:author", "cxenseparse:author")  # fmt: skip
_MAX_OBJECTS = 20_000  # of JSON-LD, lists and texts in them included
_MAX_SCRIPT_LENGTH = 2_000_000  # characters
_MAX_ELEMENTS = 30  # of one name that are read
_BEFORE_JSON = ("<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA[", "// <![CDATA[")
_AFTER_JSON = ("-->", "//]]>", "// ]]>", "/*]]>*/", "]]>", ";")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_SITE_NAME = re.compile(r"\s+[|–—-]\s+[^|–—-]{2,40}$")
_AUTHOR_ELEMENTS = etree.XPath("(//*[@rel='author'] | //*[@itemprop='author'])[position() <= 20]")
_BYLINES = etree.XPath("(//*[contains(@class, 'author') or contains(@class, 'byline')])[position() <= 50]")
_THE = frozenset({"the", "der", "die", "das", "le", "la", "les", "el", "il"})
_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?")
_PACKED_DAY = re.compile(r"\b(20\d\d)(\d\d)(\d\d)\b")
_DAY_IN_ADDRESS = re.compile(r"/((?:19|20)\d\d)[/-]?(\d\d?)[/-]?(\d\d?)(?=[/-])")
_INITIALS = re.compile(r"\s*\([^()]{1,8}\)")
_COMMA = re.compile(r"\s*,\s*")
_NO_NAME = re.compile(r"https?:|www\.|^[/(]|@|^[\W\d_]+$|\b(?:gmbh|inc|ltd|llc|ag)\b", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ArticleMetadata:
    title: str = ""
    published: datetime | None = None  # aware, with the publisher's offset
    authors: tuple[str, ...] = ()
    image_url: str = ""
    description: str = ""
    language: str = ""  # BCP 47 as the page says it, such as "en-GB"
    canonical_url: str = ""


@dataclass(frozen=True, slots=True)
class Metadata(ArticleMetadata):
    """The metadata of a page of any kind."""

    types: frozenset[str] = frozenset()  # of JSON-LD objects, in lower case
    og_type: str = ""  # in lower case
    has_published_meta: bool = False  # one of PUBLISHED is among its meta elements


def read_metadata(root: etree._Element | None, *, url: str) -> Metadata:
    """The metadata of a page; fields that it lacks are empty. Never raises.

    Parameters
    ----------
    root : element or None
        As `read_page` gives it.
    url : str
        The page's address, to make others absolute.

    Examples
    --------
    >>> from lxml.html import fromstring
    >>> page = fromstring('<title>Bridge stays - Daily</title><meta property="og:title" content="Bridge stays">')
    >>> read_metadata(page, url="https://example.org/1").title
    'Bridge stays'
    """
    if root is None:
        return Metadata()
    return _Reader(root, url).metadata()


def detect_language(text: str) -> str:
    """The ISO 639-1 code of the text's language, or "" for a text of fewer than 20 letters.

    >>> detect_language("The council voted on Tuesday to keep the old bridge open to walkers.")
    'en'
    """
    text = text[:DETECTED_FROM]
    if sum(map(str.isalpha, text)) < 20:
        return ""
    found = scores(text)
    return max(found, key=found.__getitem__)


class _Reader:
    def __init__(self, root: etree._Element, url: str) -> None:
        self.root = root
        self.url = base_of(root, url)
        self.meta = _meta_of(root)
        self.objects = list(objects_of(root))
        self.articles = [each for each in self.objects if _types(each) & ARTICLES]

    def metadata(self) -> Metadata:
        html = self.root if self.root.tag == "html" else next(self.root.iter("html"), self.root)
        return Metadata(
            title=self._title(),
            published=self._published(),
            authors=tuple(self._authors())[:MAX_AUTHORS],
            image_url=self._image(),
            description=one_line(self._meta("og:description", "description", "twitter:description"), MAX_DESCRIPTION),
            language=self._language(html),
            canonical_url=self._canonical(),
            types=frozenset().union(*map(_types, self.objects)),
            og_type=self._meta("og:type").lower(),
            has_published_meta=any(name in self.meta for name in PUBLISHED),
        )

    def _meta(self, *names: str) -> str:
        return next((value for name in names for value in self.meta.get(name, ())), "")

    def _title(self) -> str:
        written = one_line(_text(next(self.root.iter("title"), None)), MAX_TITLE_LENGTH)
        stated = next((text for each in self.articles if (text := _plain(each.get("headline")))), "")
        stated = one_line(stated or self._meta("og:title", "twitter:title"), MAX_TITLE_LENGTH)
        base, whole = letters(stated or written), letters(written)
        headings = [one_line(_text(each), MAX_TITLE_LENGTH) for each in islice(self.root.iter("h1"), _MAX_ELEMENTS)]
        site = self._site_names(written)
        headings = [heading for heading in headings if letters(heading) not in site]
        for heading in headings:
            heading_letters = letters(heading)
            if heading_letters and (base in heading_letters or heading_letters in base or heading_letters in whole):
                return heading
        return _SITE_NAME.sub("", stated or next(filter(None, headings), "") or written)

    def _site_names(self, written: str) -> set[str]:
        """What a masthead says, which often is an h1, too: the site's name, as the page's title or meta gives it."""
        alone = _SITE_NAME.sub("", written)
        tail = letters(written[len(alone) :])
        return {letters(self._meta("og:site_name")), tail if len(tail) < len(letters(alone)) else ""}

    def _published(self) -> datetime | None:
        for candidate in self._dates():
            if (moment := _moment(candidate)) is not None:
                return moment
        day = _DAY_IN_ADDRESS.search(self.url)
        return parse_date(f"{day[1]}-{day[2]:0>2}-{day[3]:0>2}") if day else None

    def _dates(self) -> Iterator[str]:
        for name in ("datePublished", "dateCreated"):
            yield from (_plain(each.get(name)) for each in self.articles)
        for name in _PUBLISHED_OR_SO:
            yield from self.meta.get(name, ())
        yield from (_plain(each.get("datePublished")) for each in self.objects)
        times = list(islice(self.root.iter("time"), _MAX_ELEMENTS))
        yield from (each.get("datetime") or "" for each in times)
        yield from map(_text, times)

    def _authors(self) -> Iterable[str]:
        """People, by the first source that names any: what only names the publisher says nothing."""
        named = self._identified("name")
        publishers = [each["publisher"] for each in self.articles if each.get("publisher")]
        names = [name for each in publishers for name in _people(each, named, is_publisher=True)]
        stated = names if publishers else [self._meta("og:site_name")]
        publisher = [words for name in stated if (words := _words(name))]
        for texts in self._author_texts(named):
            if people := [name for name in _names(texts) if not any(words <= _words(name) for words in publisher)]:
                return people
        return ()

    def _author_texts(self, named: dict[str, dict[str, Any]]) -> Iterator[Iterable[str]]:
        yield [name for each in self.articles for name in _people(each.get("author"), named)]
        yield from (self.meta.get(name, ()) for name in _AUTHOR_NAMES)
        yield map(_text, cast("list[etree._Element]", _AUTHOR_ELEMENTS(self.root)))
        bylines = cast("list[etree._Element]", _BYLINES(self.root))
        yield (_text(each) for each in bylines if EXPRESSIONS["author_class"].search(each.get("class") or ""))

    def _image(self) -> str:
        stated = self._meta("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
        named = self._identified("url", "contentUrl")
        pictures = (address for each in self.articles if (address := _picture(each.get("image"), named)))
        return absolute(stated.strip(), self.url) or absolute(next(pictures, ""), self.url)

    def _identified(self, *keys: str) -> dict[str, dict[str, Any]]:
        """JSON-LD objects that others may name by their "@id", of those that say one of the keys."""
        return {
            each["@id"]: each for each in self.objects if isinstance(each.get("@id"), str) and any(map(each.get, keys))
        }

    def _language(self, html: etree._Element) -> str:
        for stated in (html.get("lang") or html.get("xml:lang") or "", self._meta("og:locale", "content-language")):
            stated = stated.strip()[:MAX_LANGUAGE]
            if _LANGUAGE.match(stated):
                return stated.replace("_", "-")
        return ""

    def _canonical(self) -> str:
        links = (
            each.get("href") or "" for each in self.root.iter("link") if "canonical" in (each.get("rel") or "").lower()
        )
        return absolute(next(links, "").strip(), self.url) or absolute(self._meta("og:url"), self.url)


def _meta_of(root: etree._Element) -> dict[str, list[str]]:
    """The contents of meta elements under each of their names, in lower case."""
    found: dict[str, list[str]] = {}
    for element in root.iter("meta"):
        name = element.get("property") or element.get("name") or element.get("itemprop") or element.get("http-equiv")
        content = without_controls(element.get("content") or "").strip()
        if name and content:
            values = found.setdefault(name.strip().lower(), [])
            if len(values) < _MAX_ELEMENTS:
                values.append(content)
    return found


def objects_of(root: etree._Element) -> Iterator[dict[str, Any]]:
    """Every JSON-LD object of a page, at any depth."""
    left = _MAX_OBJECTS
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower().partition(";")[0] != LINKED_DATA:
            continue
        queue = [_json_of(script.text or "")]
        for value in queue:  # breadth first, since the description of the page is at the top
            left -= 1
            if left < 0:
                return
            if isinstance(value, dict):
                yield value
                queue.extend(each for each in value.values() if isinstance(each, dict | list))
            elif isinstance(value, list):
                queue.extend(each for each in value if isinstance(each, dict | list))


def _json_of(text: str) -> Any:
    if len(text) > _MAX_SCRIPT_LENGTH:
        return None
    text = text.strip().removeprefix("\ufeff").lstrip()
    for wrapper in _BEFORE_JSON:
        text = text.removeprefix(wrapper).lstrip()
    for wrapper in _AFTER_JSON:
        text = text.removesuffix(wrapper).rstrip()
    for mend in (str, partial(_TRAILING_COMMA.sub, r"\1")):
        try:
            return json.loads(mend(text), strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _types(described: dict[str, Any]) -> frozenset[str]:
    return frozenset(kind.rpartition("/")[2].lower() for kind in _listed(described.get("@type")))


def _listed(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [without_controls(each) for each in values if isinstance(each, str)]


def _plain(value: Any) -> str:
    if isinstance(value, list):
        value = next(iter(value), None)
    return unescape(without_controls(value)).strip() if isinstance(value, str) else ""


def _people(value: Any, named: dict[str, dict[str, Any]], *, is_publisher: bool = False) -> Iterator[str]:
    """The names of people, without those of organizations; with `is_publisher` the names of who is no person."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            if not each.get("name") and isinstance(each.get("@id"), str):
                each = named.get(each["@id"], each)
            kinds = _types(each)
            is_person = "person" in kinds or not (is_publisher or any(kind.endswith("organization") for kind in kinds))
            if is_person != is_publisher:
                yield from _listed(each.get("name"))
        elif isinstance(each, str):
            yield each


def _names(texts: Iterable[str]) -> list[str]:
    """Names of people among texts that may hold several, addresses, doubles, initials and the word "by".

    >>> _names(["By Ann Lee (al) and Bo Berg, Oslo", "https://example.org/ann", "Berg, Bo"])
    ['Ann Lee', 'Bo Berg', 'Oslo', 'Berg, Bo']
    """
    names = []
    for text in islice(texts, MAX_AUTHORS):
        text = _INITIALS.sub("", EXPRESSIONS["before_author"].sub("", one_line(unescape(without_controls(text)))))
        for part in EXPRESSIONS["and"].split(text):
            # "Berg, Bo" is one person, "Bo Berg, Ann Lee" are two.
            names += _COMMA.split(part) if " " in part.partition(",")[0].strip() else [part.strip()]
    return list(dict.fromkeys(name for name in names if 2 <= len(name) <= MAX_NAME and not _NO_NAME.search(name)))


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", name.lower())) - _THE


def _picture(value: Any, named: dict[str, dict[str, Any]]) -> str:
    if isinstance(value, list):
        value = next(iter(value), None)
    if isinstance(value, dict):
        if isinstance(value.get("@id"), str) and not (value.get("url") or value.get("contentUrl")):
            value = named.get(value["@id"], value)
        value = value.get("url") or value.get("contentUrl")
    return value.strip() if isinstance(value, str) else ""


def _moment(text: str) -> datetime | None:
    if (moment := parse_date(text)) is not None:
        return moment
    if found := _DAY.search(text[:200]):
        return parse_date(found[0].replace(" ", "T", 1).replace(" ", "")) or parse_date(found[0][:10])
    packed = _PACKED_DAY.search(text[:200])
    return parse_date("-".join(packed.groups())) if packed else None


def _text(element: etree._Element | None) -> str:
    return without_controls("".join(map(str, element.itertext()))) if element is not None else ""
