from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.crawl.guesses import guess
from apps.retrieval.algorithms.crawl.patterns import (
    KINDS,
    MAX_SIGNATURES,
    MIN_FETCHES,
    TESTED_SHARE,
    Patterns,
    signature,
)

STORY = "https://example.org/politics/2026/05/12/council-keeps-the-old-bridge-{}"
addresses = st.sampled_from(
    [STORY.format(4711), "https://example.org/politics/", "https://example.org/tag/x", "https://example.org/about"]
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            STORY.format(4711),
            "https://www.example.org/politics/2025/11/01/mayor-opens-a-new-tunnel-4812?utm_source=rss",
        ),
        ("https://example.org/world/page/2", "https://example.org/world/page/93"),
        ("https://example.org/calendar/2026/05", "https://example.org/calendar/2031/11"),
        ("https://example.org/item?id=7", "https://example.org/item?id=123"),
        ("https://example.org/politics", "https://example.org/sport/"),
    ],
)
def test_addresses_of_one_shape_share_a_signature(one, other):
    assert signature(one) == signature(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STORY.format(4711), "https://example.org/politics/2026/05/12/"),
        (STORY.format(4711), STORY.format(4711).replace("politics", "tours")),
        ("https://example.org/world/", "https://example.org/world/page/2"),
        ("https://shop.example.org/a", "https://example.org/a"),
        ("https://example.org/a?x=1", "https://example.org/a"),
    ],
)
def test_addresses_of_different_shapes_do_not(one, other):
    assert signature(one) != signature(other)


@given(st.text(max_size=80))
def test_a_signature_is_short_whatever_the_address(text):
    assert len(signature(f"https://example.org/{text}")) <= 200


@given(st.lists(st.tuples(addresses, st.sampled_from(KINDS)), max_size=60))
def test_patterns_count_what_was_found(fetches):
    patterns = Patterns()
    for url, kind in fetches:
        patterns.observe(url, kind)
    counted = Counter((signature(url), kind) for url, kind in fetches)
    again = Patterns.from_json(patterns.to_json())
    for url, _ in fetches:
        expected = tuple(counted[signature(url), kind] for kind in KINDS)
        assert patterns.counts(url) == again.counts(url) == expected


@given(st.lists(st.tuples(addresses, st.sampled_from(KINDS)), max_size=60), addresses, st.text(max_size=40))
def test_a_prior_lies_between_the_guess_and_what_was_found(fetches, url, text):
    patterns = Patterns()
    for seen, kind in fetches:
        patterns.observe(seen, kind)
    prior, guessed = patterns.prior(url, text), guess(url, text)
    assert prior.news + prior.index + prior.valueless == pytest.approx(1)
    found = patterns.counts(url)
    share = found[0] / sum(found) if sum(found) else guessed.news
    assert min(share, guessed.news) - 1e-9 <= prior.news <= max(share, guessed.news) + 1e-9


@pytest.mark.parametrize(
    "stored", [None, [], "x", {"a": 1}, {"a": [1, 2]}, {"a": ["1", 2, 3]}, {"a": [1, 2, None]}, {"a": [True, 1, 1]}]
)
def test_invalid_stored_patterns_are_ignored(stored):
    assert Patterns.from_json(stored).to_json() == {}


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="not in tuple"):
        Patterns().observe("https://example.org/", "unknown")


def test_only_so_many_signatures_are_remembered():
    patterns = Patterns()
    for number in range(3 * MAX_SIGNATURES):
        section = "".join(chr(97 + int(digit)) for digit in str(number))
        patterns.observe(f"https://example.org/{section}/page", "valueless")
    counts = patterns.to_json()
    assert len(counts) <= MAX_SIGNATURES + 20
    assert sum(map(sum, counts.values())) == 3 * MAX_SIGNATURES


def test_an_endless_space_of_pages_is_left_after_a_few_but_still_tested():
    patterns, fetched = Patterns(), 0
    urls = [f"https://example.org/tours/trip-{number}" for number in range(3_000)]
    for url in urls:
        if not patterns.reason_to_skip(url):
            fetched += 1
            patterns.observe(url, "valueless")
    assert MIN_FETCHES < fetched < MIN_FETCHES + 2 * TESTED_SHARE * len(urls)
    assert [not patterns.reason_to_skip(url) for url in urls] == [not patterns.reason_to_skip(url) for url in urls]


def test_a_site_that_begins_to_publish_where_it_had_nothing_is_noticed():
    patterns = Patterns()
    for number in range(MIN_FETCHES):
        patterns.observe(f"https://example.org/tours/trip-{number}", "valueless")
    later = [f"https://example.org/tours/trip-{number}" for number in range(1_000, 3_000)]
    for url in later:
        if not patterns.reason_to_skip(url):
            patterns.observe(url, "news")
    assert not patterns.reason_to_skip("https://example.org/tours/trip-5000")


def test_stories_and_lists_are_never_doubted():
    patterns = Patterns()
    for number in range(200):
        patterns.observe(STORY.format(1_000 + number), "news" if number % 10 == 0 else "valueless")
    assert patterns.reason_to_skip(STORY.format(5_000)) == ""


@pytest.mark.parametrize(
    ("url", "text", "kind"),
    [
        (STORY.format(4711), "Council keeps the old bridge open", "news"),
        (STORY.format(4711), "", "news"),
        ("https://example.org/article/20260512/193245.html", "市议会投票决定保留老桥供人使用", "news"),
        ("https://example.org/", "Home", "index"),
        ("https://example.org/topics/sport", "Sport", "index"),
        ("https://example.org/imprint", "Imprint", "valueless"),
        ("javascript:x", "", "valueless"),
    ],
)
def test_addresses_and_words_promise_a_kind(url, text, kind):
    likely = guess(url, text)
    assert max(KINDS, key=lambda name: getattr(likely, name)) == kind
