"""Groups of copies of two runs need not be equal, but both have to be right."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from apps.postings.algorithms.duplicates import article
from lab.chaos.copies import Folded, groups, judge

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STORM = "The river left its banks on Friday night. Two hundred cellars had to be pumped out by firemen, and trains to "
STORM += "Porto do not run before Sunday, the railway said, since the bridge at Pinhal has to be examined by divers."
DERBY = "A late penalty saved the visitors one point in front of a full house, and their coach said that nobody had "
DERBY += "seen such a derby for twenty years; the return match will be played in May, when both may still be champions."


def a_posting(name: str, key: int, text: str = STORM, *, days: float = 0, url: str = "") -> Folded:
    return Folded(name, key, NOON + timedelta(days=days), article("", text, url))


def test_copies_in_one_group_are_right():
    judged = judge([a_posting("a", 1), a_posting("b", 1), a_posting("c", 2, DERBY)])
    assert (judged.unknown, judged.foreign, judged.alone, judged.copies) == ([], [], [], 2)


def test_a_posting_in_a_group_of_others_is_foreign():
    assert judge([a_posting("a", 1), a_posting("b", 1), a_posting("c", 1, DERBY)]).foreign == ["a", "b", "c"]


def test_a_posting_repeated_after_days_is_not_a_copy():
    judged = judge([a_posting("a", 1), a_posting("b", 2, days=3)])
    assert (judged.alone, judged.copies) == ([], 0)
    assert judge([a_posting("a", 1), a_posting("b", 1, days=3)]).foreign == ["a", "b"]
    assert judge([a_posting("a", 1), a_posting("c", 1, days=1.5), a_posting("b", 1, days=3)]).foreign == []


def test_a_copy_that_is_folded_with_none_is_alone():
    assert judge([a_posting("a", 1), a_posting("b", 2)]).alone == ["a", "b"]
    assert judge([a_posting("a", 1), a_posting("b", 1), a_posting("c", 3)]).alone == ["c"]


def test_copies_that_no_band_finds_are_not_missed():
    one, other = (article("", text, "") for text in (STORM, f"{STORM} More was not said."))
    apart = replace(other, values=np.where(np.arange(other.values.size) % 3, other.values, 0))  # one in each band
    found = judge([Folded("a", 1, NOON, one), Folded("b", 2, NOON, apart)])
    assert one.is_copy_of(apart)
    assert (found.alone, found.copies) == ([], 0)
    assert judge([Folded("a", 1, NOON, one), Folded("b", 2, NOON, other)]).alone == ["a", "b"]


def test_one_page_has_copies_whatever_their_texts():
    url = "https://news.example/1"
    assert judge([a_posting("a", 1, url=url), a_posting("b", 2, DERBY, url=url)]).alone == ["a", "b"]


def test_a_posting_whose_copies_are_not_found_is_unknown():
    assert judge([Folded("a", 1, NOON, None), Folded("b", 0, NOON, None)]).unknown == ["a"]


def test_postings_without_a_key_are_in_no_group():
    found = groups([Folded("a", 0, NOON, None), Folded("b", 0, NOON, None), a_posting("c", 1), a_posting("d", 1)])
    assert found == {"a": {"a"}, "b": {"b"}, "c": {"c", "d"}, "d": {"c", "d"}}
