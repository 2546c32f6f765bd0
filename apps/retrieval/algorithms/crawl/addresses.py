"""What a page's address shows before any request: whether it is a duplicate, a trap, or the rest of a list."""

import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import unquote

from apps.sources.algorithms.addresses import absolute, is_tracking_parameter, resolve, same_page_key

MAX_LENGTH = 1_500  # characters as they are sent
MAX_DECODED_LENGTH = 500  # characters: in Chinese or Arabic each is sent as six or nine
MAX_SEGMENTS = 12
MAX_PARAMETERS = 6  # tracking parameters not counted
MAX_REPEATS = 3  # of one segment
CALENDAR_REACH = timedelta(days=400)  # from today
_WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8")).items()
}

_TOKEN = re.compile(r"(?=.*\d)[0-9a-z-]{16,}", re.IGNORECASE)
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;?]*", re.IGNORECASE)
_DIRECTORY_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php\d?|aspx?|jsp|shtml|cfm)$", re.IGNORECASE)
_AMP = re.compile(r"^/amp(?=/[^/])|(?<=[^/])/amp$|(?<=[^/])\.amp(?=\.html?$)", re.IGNORECASE)

_PAGE_IN_PATH = re.compile(
    r"/(?:page|seite|pagina|sida|side|strana|strona|halaman|pag|p|pg)[/_-]?(\d{1,5})(?:\.\w{3,5})?/?$", re.IGNORECASE
)
_PAGE_IN_NAME = re.compile(r"[_-](?:page|seite|pagina)[_-]?(\d{1,5})(?:\.\w{3,5})?/?$|/index_(\d{1,4})\.s?html?$", re.I)
_NUMBER_AFTER_SECTION = re.compile(r"/[^/\d]+/(\d{1,3})/?$")

_CALENDAR = re.compile(
    r"(?:^|[/_-])(?:calendars?|kalender|calendario|calendrier|events?|eventi|eventos|termine|veranstaltungen|agenda|"
    r"evenements?|what-?s-?on|tribe[_-]bar[_-]date)(?=$|[/_.=-])",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"(?<!\d)((?:19|20|21)\d\d)"
    r"(?:[/_-]?(0[1-9]|1[0-2])(?:[/_-]?(0[1-9]|[12]\d|3[01]))?|[/_-]([1-9])(?:[/_-](\d\d?))?)?(?!\d)"
)


def page_key(address: str) -> str:
    """What all variants of one page's address have in common, to compare and not to open; "" for no web address.

    Dropped are what never distinguishes pages (scheme, `www.`, tracking parameters, last slash) and session ids, sort
    orders, versions for printing or for telephones, the order of parameters, and "index.html".

    >>> page_key("http://www.example.org/news/index.html;jsessionid=A1?b=2&sort=asc&a=1")
    'example.org/news?a=1&b=2'
    """
    url = resolve(absolute(address))
    if url is None:
        return ""
    url.pathname = _AMP.sub("", _DIRECTORY_INDEX.sub("/", _SESSION_IN_PATH.sub("", url.pathname)).rstrip("/"))
    pairs = [pair for pair in url.search.removeprefix("?").split("&") if pair]
    url.search = "&".join(sorted(pair for pair in pairs if not _is_variant(pair)))
    return same_page_key(url.href)


def is_continuation(address: str) -> bool:
    """Whether an address looks like the second or a later part of a list, whose first part alone shows what is new.

    >>> is_continuation("https://example.org/politics/page/2"), is_continuation("https://example.org/politics?page=1")
    (True, False)
    """
    url = resolve(address)
    if url is None:
        return False
    for name, value in _parameters(url.search):
        is_number = name in _WORDS["page_parameters"] and value.isdecimal() and len(value) <= 6
        if is_number and int(value) > (0 if name in _WORDS["offsets"] else 1):
            return True
    named = _PAGE_IN_PATH.search(url.pathname) or _PAGE_IN_NAME.search(url.pathname)
    match = named or _NUMBER_AFTER_SECTION.search(url.pathname)
    return match is not None and int(next(filter(None, match.groups()))) > 1


def trap_reason(address: str, *, today: date) -> str:
    """The reason why an address is probably not worth a request, as a sentence; "" if there is none.

    >>> trap_reason("https://example.org/a/b/a/b/a/b", today=date(2026, 1, 1))
    'Parts of its address repeat themselves.'
    >>> trap_reason("https://example.org/events/2031/05", today=date(2026, 1, 1))
    'It is a day in a calendar that is far from today.'
    """
    url = resolve(absolute(address))
    if url is None:
        return "It has no web address."
    if len(url.href) > MAX_LENGTH or len(unquote(url.href)) > MAX_DECODED_LENGTH:
        return "Its address is too long."
    segments = [unquote(segment).lower() for segment in url.pathname.split("/") if segment]
    parameters = [(name, value) for name, value in _parameters(url.search) if not is_tracking_parameter(name)]
    if len(segments) > MAX_SEGMENTS:
        return "Its address has too many parts."
    if _repeats(segments):
        return "Parts of its address repeat themselves."
    if len(parameters) > MAX_PARAMETERS or len({name for name, _ in parameters}) < len(parameters) - 2:
        return "Its address has too many parameters."
    if _WORDS["actions"].intersection(segments) or any(_is_action(name, value) for name, value in parameters):
        return "Its address performs an action instead of showing a page."
    if _is_search(segments, parameters):
        return "It shows what a search of the site finds, not a page of its own."
    if _far_in_calendar(unquote(url.pathname), parameters, today):
        return "It is a day in a calendar that is far from today."
    return ""


def _name(pair: str) -> str:
    return unquote(pair.partition("=")[0]).lower()


def _parameters(search: str) -> Iterator[tuple[str, str]]:
    for pair in search.removeprefix("?").split("&"):
        if pair:
            yield _name(pair), unquote(pair.partition("=")[2])


def _is_variant(pair: str) -> bool:
    name, value = _name(pair), unquote(pair.partition("=")[2])
    if name in _WORDS["perhaps_sessions"]:
        return _TOKEN.fullmatch(value) is not None
    if name == "dir":
        return value.lower() in ("asc", "desc")
    return name in _WORDS["sessions"] or name in _WORDS["shown_as"]


def _is_action(name: str, value: str) -> bool:
    return name in _WORDS["action_parameters"] or (name in _WORDS["commands"] and value.lower() in _WORDS["actions"])


def _is_search(segments: list[str], parameters: list[tuple[str, str]]) -> bool:
    if parameters and _WORDS["searches"].intersection(segments):
        return True
    named = _WORDS["searched"] if segments else _WORDS["searched"] | {"s"}
    return any(name in named and value and "/" not in value for name, value in parameters)  # Drupal says q=node/7


def _repeats(segments: list[str]) -> bool:
    words = [segment for segment in segments if not segment.isdecimal()]
    if any(words.count(word) >= MAX_REPEATS for word in words):
        return True
    runs = ((start, length) for length in range(2, len(words) // 2 + 1) for start in range(len(words) - 2 * length + 1))
    return any(words[start : start + length] == words[start + length : start + 2 * length] for start, length in runs)


def _far_in_calendar(path: str, parameters: list[tuple[str, str]], today: date) -> bool:
    dated = {name: value for name, value in parameters if name in _WORDS["date_parameters"]}
    has_slug = path.rstrip("/").rpartition("/")[2].count("-") >= 3  # a story of some day
    if not dated and (has_slug or not _CALENDAR.search(path)):
        return False
    year, month = dated.pop("year", dated.pop("jahr", "")), dated.pop("month", dated.pop("monat", ""))
    dates = "/".join([path, year, month, *dated.values()])
    days = [day for match in _DAY.finditer(dates) if (day := _date(match)) is not None]
    return any(abs(day - today) > CALENDAR_REACH for day in days)


def _date(match: re.Match[str]) -> date | None:
    try:
        return date(int(match[1]), int(match[2] or match[4] or 6), int(match[3] or match[5] or 15))
    except ValueError:
        return None
