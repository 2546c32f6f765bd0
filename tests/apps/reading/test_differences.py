from hypothesis import given
from hypothesis import strategies as st

from apps.reading.algorithms.differences import MAX_WORDS, word_changes

texts = st.lists(st.sampled_from(["one", "two", "three,", "新", "闻", "الخبر"]), max_size=30).map(" ".join)


@given(texts, texts)
def test_both_texts_can_be_read_from_the_changes(before, after):
    changes = word_changes(before, after)
    for text, foreign in ((before, "added"), (after, "removed")):
        read = "".join(change.text for change in changes if change.kind != foreign)
        assert " ".join(read.split()) == text


def test_equal_texts_have_no_changes():
    assert {change.kind for change in word_changes("a b c", "a  b\nc")} == {"same"}


def test_chinese_is_compared_character_by_character():
    assert [(change.kind, change.text) for change in word_changes("中国空间站", "中国太空站")] == [
        ("same", "中国"),
        ("added", "太"),
        ("same", "空"),
        ("removed", "间"),
        ("same", "站"),
    ]


def test_texts_too_long_to_compare_are_left():
    assert word_changes("word " * (MAX_WORDS + 1), "word") is None
