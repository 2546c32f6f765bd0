"""Misspelled words are distinguished from rare ones by the vocabulary of postings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.search.algorithms.spelling import Vocabulary, counted_words

KNOWN = {"government": 900, "governor": 400, "parliament": 300, "vote": 70, "note": 60, "élysée": 20, "выборы": 50}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("goverment", "government"),
        ("GOVERNMNET", "government"),
        ("parlaiment", "parliament"),
        ("voet", "vote"),
        ("élysee", "élysée"),
        ("выбори", "выборы"),
    ],
)
def test_a_slip_is_put_right(written, meant):
    assert Vocabulary(KNOWN).meant(written) == meant


@pytest.mark.parametrize("written", ["government", "vote", "cat", "g0vernment", "zzzzzzzz", "", "选举结果", "a" * 41])
def test_known_short_distant_and_invalid_words_are_not_corrected(written):
    assert Vocabulary(KNOWN).meant(written) == ""


def test_a_rare_word_only_gives_way_to_one_ten_times_as_common():
    assert Vocabulary({"vote": 39, "volte": 4}).meant("volte") == ""
    assert Vocabulary({"vote": 40, "volte": 4}).meant("volte") == "vote"


def test_fewer_edits_count_before_the_first_letter_and_that_before_frequency():
    assert Vocabulary({"wording": 3, "working": 900}).meant("woding") == "wording"
    assert Vocabulary({"rotes": 5, "notes": 900}).meant("rtes") == "rotes"


def test_a_word_counts_once_in_a_text():
    assert counted_words(["Bridge, bridge and BRIDGE", "a bridge"])["bridge"] == 2


@given(st.dictionaries(st.text("abc", min_size=3, max_size=7), st.integers(1, 50)), st.text("abcD1", max_size=8))
def test_only_words_that_are_known_and_much_commoner_are_meant(documents, written):
    meant = Vocabulary(documents).meant(written)
    assert not meant or documents[meant] >= 10 * documents.get(written.lower(), 0)
    assert not meant or meant != written.lower()
