"""Rows that are missing, too many or different, against a comparison of sorted lists."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.chaos.differences import Differences, differences

names, digests = st.sampled_from("abcde"), st.sampled_from("123")
expectations = st.dictionaries(names, digests)
tables = st.lists(st.tuples(names, digests), max_size=12)


@given(expectations)
def test_equal_tables_do_not_differ(expected):
    rows = list(expected.items())
    assert differences(rows, reversed(rows)) == Differences([], [], [])


@given(expectations, tables)
def test_differences_agree_with_multiset_counts(expected, present):
    found = differences(expected.items(), present)
    counts = Counter(name for name, _ in present)
    assert found.missing == [name for name in sorted(expected) if not counts[name]]
    assert Counter(found.added) == counts - Counter(expected.keys())
    assert found.different == [
        name for name in sorted(expected) if counts[name] and (name, expected[name]) not in present
    ]


@given(expectations, tables)
def test_tables_that_do_not_differ_are_equal(expected, present):
    if differences(expected.items(), present) == Differences([], [], []):
        assert sorted(present) == sorted(expected.items())


def test_names_that_name_two_rows_are_refused():
    with pytest.raises(ValueError, match="two expected rows have the name 'a'"):
        differences([("a", "1"), ("a", "2")], [])
