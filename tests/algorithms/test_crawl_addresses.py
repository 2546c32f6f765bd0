from datetime import date, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.crawl.addresses import CALENDAR_REACH, is_continuation, page_key, trap_reason

TODAY = date(2026, 5, 12)
NOISE = (
    "utm_source=rss",
    "PHPSESSID=0a1b2c",
    "sid=0123456789abcdef0123",
    "sort=asc",
    "print=1",
    "fbclid=x",
    "dir=desc",
)

segments = st.text("abcdefgh-1234", min_size=1, max_size=8).filter(lambda word: word not in ("amp", "index"))
parameters = st.dictionaries(st.sampled_from(["id", "story", "q", "lang"]), st.integers(1, 99).map(str), max_size=3)


def slow_key(address: str) -> str:
    """The key of an address that has nothing odd about it."""
    parts = urlsplit(address)
    pairs = sorted(f"{name}={value}" for name, value in parse_qsl(parts.query))
    path = "/" + "/".join(filter(None, parts.path.split("/")))
    return parts.hostname.removeprefix("www.") + path.rstrip("/") + ("?" + "&".join(pairs) if pairs else "")


@given(st.lists(segments, max_size=4), parameters)
def test_plain_addresses_are_their_own_keys(path, query):
    pairs = "&".join(f"{name}={value}" for name, value in query.items())
    address = f"https://www.example.org/{'/'.join(path)}?{pairs}"
    assert page_key(address) == slow_key(address)


@given(st.lists(segments, min_size=1, max_size=4), parameters, st.sets(st.sampled_from(NOISE)), st.randoms())
def test_variants_of_an_address_share_its_key(path, query, noise, random):
    pairs = [f"{name}={value}" for name, value in query.items()]
    plain = f"https://example.org/{'/'.join(path)}?{'&'.join(pairs)}"
    pairs += noise
    random.shuffle(pairs)
    variant = f"http://www.example.org/{'/'.join(path)}/;jsessionid=7F?{'&'.join(pairs)}#top".replace("/;", ";")
    assert page_key(variant) == page_key(plain)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/news/", "https://example.org/news/index.html"),
        ("https://example.org/story", "https://example.org/story/amp/"),
        ("https://example.org/news/story-1", "https://example.org/amp/news/story-1"),
        ("https://example.org/story.html", "https://example.org/story.amp.html"),
    ],
)
def test_other_versions_of_a_page_share_its_key(one, other):
    assert page_key(one) == page_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/article.php?sid=123", "https://example.org/article.php?sid=124"),
        ("https://example.org/?p=1", "https://example.org/?p=2"),
        ("https://example.org/amp", "https://example.org/"),
        ("https://example.org/list?dir=reports", "https://example.org/list?dir=minutes"),
        ("https://news.example.org/a", "https://example.org/a"),
    ],
)
def test_different_pages_have_different_keys(one, other):
    assert page_key(one) != page_key(other)


@given(st.text(max_size=60))
def test_no_text_breaks_the_reading_of_addresses(text):
    for address in (text, f"{text}:", f"https://example.org/{text}", f"https://example.org/?{text}"):
        key = page_key(address)
        assert key == "" or page_key(f"https://{key}") == key
        assert isinstance(is_continuation(address), bool)
        assert isinstance(trap_reason(address, today=TODAY), str)


@pytest.mark.parametrize(
    "path",
    ["politics?page=2", "politics/page/17/", "a/b?start=20", "a?offset=10", "news/3/", "news/seite-4", "news?p=3",
     "list-page-2.html", "news/index_5.html", "tag/sport/p2", "?paged=9", "forum?from=40"],
)  # fmt: skip
def test_further_parts_of_lists_are_continuations(path):
    assert is_continuation(f"https://example.org/{path}")


@pytest.mark.parametrize(
    "path",
    ["", "politics", "politics?page=1", "politics/page/1", "a?start=0", "2026/05/12", "2026/5", "news/48405481",
     "story?id=63254875", "top-10", "news?page=all", "news/covid-19", "news/article-2.html"],
)  # fmt: skip
def test_first_parts_and_stories_are_no_continuations(path):
    assert not is_continuation(f"https://example.org/{path}")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a/b/a/b", "repeat"),
        ("x/news/x/news/x", "repeat"),
        ("a/b/c/a/b/c", "repeat"),
        ("/".join("abcdefghijklm"), "too many parts"),
        ("x" * 1_600, "too long"),
        ("?" + "&".join(f"{name}=1" for name in "abcdefg"), "too many parameters"),
        ("login?next=/news", "performs an action"),
        ("post-1?replytocom=17", "performs an action"),
        ("index.php?action=register", "performs an action"),
        ("wp-login.php", "performs an action"),
        ("?s=bridge", "search"),
        ("search?term=bridge", "search"),
        ("events/2031/05", "calendar"),
        ("calendar?year=2019&month=4", "calendar"),
        ("kalender/20190412", "calendar"),
        ("x?date=2031-01-02", "calendar"),
    ],
)
def test_traps_have_a_reason(path, words):
    assert words in trap_reason(f"https://example.org/{path}", today=TODAY)


@pytest.mark.parametrize(
    "path",
    ["", "2017/6/13/15782200/one-device", "sport/sport/football", "11/11/11", "news?id=1&utm_source=a&utm_medium=b",
     "shares/market", "events/2019/what-we-learnt-from-the-summit", "index.php?action=view&id=7",
     "?q=node/7", "topics/search", "events",
     "nachrichten/%E5%8C%97%E4%BA%AC" * 3],
)  # fmt: skip
def test_usual_addresses_are_no_traps(path):
    assert trap_reason(f"https://example.org/{path}", today=TODAY) == ""


@given(st.integers(-2_000, 2_000), st.sampled_from(["calendar/{:%Y/%m/%d}", "events/{:%Y-%m-%d}", "x?date={:%Y%m%d}"]))
def test_days_of_a_calendar_are_traps_if_they_are_far_from_today(days, shape):
    day = TODAY + timedelta(days=days)
    is_trap = trap_reason("https://example.org/" + shape.format(day), today=TODAY) != ""
    assert is_trap == (abs(timedelta(days=days)) > CALENDAR_REACH)
