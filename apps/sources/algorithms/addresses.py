"""Addresses parsed and normalized by the WHATWG URL standard, as browsers do."""

import json
import re
from binascii import crc32
from functools import cache, lru_cache
from pathlib import Path

from ada_url import URL, idna, normalize_url
from publicsuffixlist import PublicSuffixList

from apps.sources.algorithms.partitions import PARTITIONS

MAX_ADDRESS_LENGTH = 2_000  # characters, as many as a source's column holds

_WEB_PROTOCOLS = ("http:", "https:")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Prefixes that browsers and other readers add for "subscribe to" or "show the source of".
_WRAPPER = re.compile(r"(?:view-source|feed|pcast|itpc|podcast):(?://)?", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
# "example.com:8080/feed" starts like a scheme, but is a host and a port.
_HOST_AND_PORT = re.compile(r"(?:[^/\\?#:@]*\.[^/\\?#:@]*|localhost):\d{0,5}(?=[/\\?#]|$)", re.IGNORECASE)
_ON_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_IN_TEXT = re.compile(r"https?://[^\s\"”<>]*[^\s\"”<>.,:;)]", re.IGNORECASE)
_AUTHORITY = re.compile(r"https?:[/\\]*([^/\\?#]*)", re.IGNORECASE)
_WORD_BREAK = re.compile(r"[-_+ .]+")

_TRACKING = json.loads(Path(__file__).with_name("tracking-parameters.json").read_text("utf-8"))
_TRACKING_NAMES, _TRACKING_PREFIXES = frozenset(_TRACKING["names"]), tuple(_TRACKING["prefixes"])


class BadAddress(ValueError):
    """A text that is not an address to fetch news from; the message states the reason."""


def resolve(address: str, base: str = "") -> URL | None:
    """The URL of `address` on a page at `base`, of any scheme, as browsers resolve it; None if it is invalid.

    >>> resolve("../feed", "https://example.org/news/today/").href
    'https://example.org/news/feed'
    """
    try:
        url = URL(_well_encoded(address), _well_encoded(base) or None)
    except ValueError:
        return None
    return url if _has_readable_labels(url.hostname) else None


def http_address(address: str) -> str:
    """The address if it is a web address, else "": clients might execute others or open local files.

    >>> http_address("HTTPS://news.example/1"), http_address("javascript:alert(1)"), http_address("\\tjava\\nscript:x")
    ('HTTPS://news.example/1', '', '')
    """
    return address if _ON_WEB.match(address) else ""


def absolute(address: str, base: str = "") -> str:
    """The normalised absolute http or https address, or "" where there is none. Never raises.

    Unlike in browsers, a blank address is not the page itself: an empty link in a feed leads nowhere. An invalid base
    is ignored.

    >>> absolute("//Example.org:443/a b/../c#part", "https://example.org/")
    'https://example.org/c#part'
    >>> absolute("javascript:alert(1)"), absolute(" ", "https://example.org/")
    ('', '')
    """
    if not address or address.isspace():
        return ""
    url = resolve(address, base) or (resolve(address) if base else None)
    return url.href if url is not None and url.protocol in _WEB_PROTOCOLS else ""


def normalise(address: str) -> str:
    """The normalised address that a person has typed or pasted, without fragment.

    Raises
    ------
    BadAddress
        If it is empty, longer than 2,000 characters, of another scheme than http and https, without a host
        that can exist, or carries a user name.

    Examples
    --------
    >>> normalise(" feed://Example.org/news.xml#latest ")
    'https://example.org/news.xml'
    """
    typed = address.strip().strip("\ufeff\u200b")
    if len(typed) > MAX_ADDRESS_LENGTH:
        raise BadAddress(f"The address is {len(typed):,} characters long; at most {MAX_ADDRESS_LENGTH:,} are allowed.")
    text = _with_scheme(_unwrapped(typed))
    url = resolve(text)
    if url is None or not url.hostname:
        raise BadAddress(_complaint_about_host(text))
    if url.username or url.password:
        raise BadAddress("The address contains a username or password; feeds are shared by everyone, so leave it out.")
    url.hash = ""
    if len(url.href) > MAX_ADDRESS_LENGTH:
        raise BadAddress(f"The address is longer than {MAX_ADDRESS_LENGTH:,} characters once its letters are encoded.")
    return str(url.href)


def host(address: str) -> str:
    """The host of an absolute address in its ASCII form, without port; "" where there is none.

    >>> host("https://Bücher.example:8080/neu"), host("http://[::1]/")
    ('xn--bcher-kva.example', '[::1]')
    """
    url = resolve(address)
    return str(url.hostname) if url is not None else ""


def hosts_only(text: str) -> str:
    """The text with its web addresses reduced to their hosts: the rest of a private feed's address is a secret.

    >>> hosts_only("https://news.example/secret/feed?key=1: moved to “http://other.example/key”.")
    'news.example: moved to “other.example”.'
    """
    return _IN_TEXT.sub(lambda found: host(found[0]), text)


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """The registrable part of a host; IP addresses, and names without one or of this machine, are returned unchanged.

    >>> registrable_domain("news.example.co.uk"), registrable_domain("127.0.0.1"), registrable_domain("s1.a.localhost")
    ('example.co.uk', '127.0.0.1', 's1.a.localhost')
    """
    name = host.lower().removesuffix(".")
    # WHATWG leaves no other ways to write an IP address.
    if ":" in name or name.replace(".", "").isdigit() or name.endswith(".localhost"):
        return name
    return _public_suffixes().privatesuffix(name) or name


def partition(address: str) -> int:
    """The partition, from 0 to 63, that retrieves all sources of this address's registrable domain.

    >>> partition("https://feeds.example.org/a") == partition("http://www.example.org/b")
    True
    """
    return crc32(registrable_domain(host(address)).encode()) % PARTITIONS


def is_tracking_parameter(name: str) -> bool:
    """Whether a query parameter only says where a reader came from, so that the page is the same without it.

    The one list of them: links inside postings are cleaned by it too.

    >>> is_tracking_parameter("UTM_source"), is_tracking_parameter("id")
    (True, False)
    """
    lowered = name.lower()
    return lowered in _TRACKING_NAMES or lowered.startswith(_TRACKING_PREFIXES)


def word_breaks(segment: str) -> int:
    """How many times a segment of a path changes to another word; -1 without any word.

    >>> word_breaks("a_trip-to-rome"), word_breaks("rome"), word_breaks("--")
    (3, 0, -1)
    """
    return len(list(filter(None, _WORD_BREAK.split(segment)))) - 1


def same_page_key(address: str) -> str:
    """A key that is equal for addresses of one page, to compare and not to open; "" if it is not a web address.

    Scheme, `www.`, default port, tracking parameters, last slash and fragment are ignored; the order of the other
    parameters counts.

    >>> same_page_key("http://www.example.org/story/?utm_source=rss&id=7#top")
    'example.org/story?id=7'
    """
    return same_page_key_and_fragment(address)[0]


def same_page_key_and_fragment(address: str) -> tuple[str, str]:
    """The key of `same_page_key`, and the fragment with its `#`, or "".

    Called for every address of every feed at each retrieval, so the parts are cut out of the normalised address: the
    parser's getters take five times as long.

    >>> same_page_key_and_fragment("http://www.example.org/story/?utm_source=rss&id=7#top")
    ('example.org/story?id=7', '#top')
    """
    parts = _PARTS.fullmatch(_normalised(address))
    if parts is None:
        return "", ""
    name, port, path, search, fragment = parts.groups("")
    pairs = [pair for pair in search.split("&") if pair] if search else ()
    kept = [pair for pair in pairs if not is_tracking_parameter(pair.partition("=")[0])]
    query = f"?{'&'.join(kept)}" if kept else ""
    return f"{name.removesuffix('.').removeprefix('www.')}{port}{path.rstrip('/')}{query}", fragment if len(
        fragment
    ) > 1 else ""


# Of a normalised web address: host, port with its colon, path, search without its "?", fragment.
_PARTS = re.compile(r"https?://(?:[^@/?#]*@)?([^:/?#\[]*|\[[^\]]*\])(:[0-9]+)?(/[^?#]*)(?:\?([^#]*))?(#.*)?", re.DOTALL)


def _normalised(address: str) -> str:
    """The address as browsers normalise it; "" if it is invalid."""
    try:
        url = normalize_url(_well_encoded(address))
    except ValueError:
        return ""
    if "xn--" in url and resolve(address) is None:
        return ""
    return url


def _well_encoded(text: str) -> str:
    """Replace lone surrogates, which JSON can carry, by the replacement character, as the standard requires."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _has_readable_labels(hostname: str) -> bool:
    """The parser accepts a few undecodable "xn--" labels, which its decoder returns unchanged."""
    if "xn--" not in hostname:
        return True
    return all(not label.startswith("xn--") or idna.decode(label) != label for label in hostname.split("."))


def _unwrapped(text: str) -> str:
    """The address inside `feed:https://…` and the like, which may be wrapped more than once."""
    while match := _WRAPPER.match(text):
        if _HOST_AND_PORT.match(text):
            break
        text = text[match.end() :].lstrip()
    return text


def _with_scheme(text: str) -> str:
    if not text:
        raise BadAddress("The address is empty.")
    if text.startswith(("//", "\\\\")):
        return f"https:{text}"
    scheme = _SCHEME.match(text)
    if scheme and not _HOST_AND_PORT.match(text):
        if f"{scheme[1].lower()}:" not in _WEB_PROTOCOLS:
            raise BadAddress(f"An address starts with http:// or https://, not with “{scheme[0]}”.")
        return text
    first = re.split(r"[/\\?#:]", text, maxsplit=1)[0]
    # A lone word or number would become a host, which is hardly ever intended.
    if first and "." not in first and first.lower() != "localhost" and not text.startswith("["):
        raise BadAddress(f"“{first}” is not an address: a host such as example.org is missing.")
    return f"https://{text.lstrip('/')}" if first or text.startswith("[") else "https:///"


def _complaint_about_host(text: str) -> str:
    authority = _AUTHORITY.match(text)
    if authority is None or not authority[1]:
        return "The address has no host such as example.org."
    return f"“{authority[1]}” is not a valid host or host and port."


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
