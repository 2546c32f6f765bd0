"""Copies of an article are recognised by their pages and words, and articles survive storage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.duplicates import article, page_key, restored

words = st.lists(st.sampled_from(["storm", "river", "town", "mayor", "water", "school", "train", "rain"]), max_size=80)


@given(words, words, st.sampled_from(["", "https://a.example/1", "https://a.example/2"]))
def test_a_stored_article_is_compared_like_the_original(title, text, address):
    one = article(" ".join(title), " ".join(text), address)
    again = restored(one.values.astype("<u4").tobytes(), one.words)
    assert (again.words, again.bands) == (one.words, one.bands[bool(one.page) :])
    assert again.is_copy_of(one) == one.is_copy_of(again) == bool(one.values.size)


@given(words)
def test_copies_share_a_band(text):
    one, other = article("One", " ".join(text), ""), article("Another", " ".join(text[: len(text) * 9 // 10]), "")
    if one.is_copy_of(other) and len(text) >= 50:
        assert set(one.bands) & set(other.bands)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://ahram.example/a", "https://ahra.example/a"),  # the host does not begin with "m."
        ("https://news.example/amplifier", "https://news.example/lifier"),
        ("https://news.example/a?id=1", "https://news.example/a?id=2"),
        ("https://news.example/a?output=1&id=2", "https://news.example/a"),
    ],
)
def test_other_pages_have_other_keys(one, other):
    assert 0 != page_key(one) != page_key(other) != 0


@pytest.mark.parametrize("address", ["", "mailto:a@b.example", "https://news.example", "https://m.news.example/?amp=1"])
def test_addresses_that_are_no_articles_have_no_page_key(address):
    assert page_key(address) == 0


def test_short_texts_that_fill_in_a_template_are_not_copies():
    text = "Today in {}: highs of {} degrees, lows of {} degrees, {} percent chance of rain in the course of the day."
    one, other = (article("Weather", text.format(*values), "") for values in (("Oslo", 9, 2, 30), ("Rome", 19, 8, 5)))
    assert not one.is_copy_of(other)
