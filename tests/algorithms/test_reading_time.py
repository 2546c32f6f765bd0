"""How long texts take to read, against a count by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.summaries.algorithms.reading_time import WORDS_PER_MINUTE, reading_minutes

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=9), max_size=2_000)


@given(WORDS)
def test_words_between_spaces_are_counted(words):
    assert abs(reading_minutes(" ".join(words)) - len(words) / WORDS_PER_MINUTE) <= 0.5


@given(st.text("总理访问柏林新闻", max_size=4_000))
def test_characters_are_counted_where_no_spaces_are(text):
    assert abs(reading_minutes(text) - len(text) / 1.8 / WORDS_PER_MINUTE) <= 0.5 + 1e-9


@given(st.text("ab 总理", min_size=1, max_size=300), st.integers(1, 30))
def test_reading_time_is_extrapolated_from_the_beginning(beginning, times):
    whole = f"{beginning} " * times
    assert abs(reading_minutes(f"{beginning} ", len(whole)) - reading_minutes(whole)) <= 1


@pytest.mark.parametrize(("text", "characters"), [("", 0), ("", 9_000), ("word", 2)])
def test_empty_and_tiny_texts_take_no_time(text, characters):
    assert reading_minutes(text, characters) == 0
