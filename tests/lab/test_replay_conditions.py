"""Replay: validators, conditional requests, and which source has which fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.worlds.conditions import Edition, held_count, http_date, is_current, make_edition
from lab.worlds.faults import TROUBLE, Fault, choose_faults, trouble_until

EDITION = Edition(first=10, count=60, etag='W/"ab-60"', modified="")


@pytest.mark.parametrize(
    ("if_none_match", "if_modified_since", "current"),
    [
        (None, None, False),
        ('"ab-60"', None, True),
        ('W/"ab-60"', None, True),
        ('"x", W/"ab-60"', None, True),
        ("*", None, True),
        ('"ab-59"', None, False),
        ('"ab-59"', http_date(100.0), False),  # the date does not count beside a tag
        (None, http_date(100.0), True),
        (None, http_date(101.0), True),
        (None, http_date(99.0), False),
        (None, "yesterday", False),
        (None, "Thu, 01 Jan 1970 00:01:40 -0000", True),  # a date without a zone
    ],
)
def test_whether_a_client_holds_the_current_edition(if_none_match, if_modified_since, current):
    assert is_current(EDITION, if_none_match, if_modified_since, newest=100.9) is current


@given(published=st.lists(st.floats(0, 20), min_size=1, max_size=20), first=st.floats(0, 20), again=st.floats(0, 20))
def test_a_date_never_hides_a_posting(published, first, again):
    first, again = sorted((first, again))

    def edition_at(now):
        newest = max((time for time in published if time <= now), default=None)
        count = sum(time <= now for time in published)
        return make_edition(count=count, window=50, token="ab", weak=False, newest=newest, now=now), newest

    before, _ = edition_at(first)
    after, newest = edition_at(again)
    if before.modified and is_current(after, None, before.modified, newest):
        assert after.count == before.count


@pytest.mark.parametrize(
    ("tag", "held"),
    [
        ('"ab-58"', 58),
        ('W/"ab-58"', 58),
        ('"ab-58", "ab-59"', 59),
        ('"ab-60"', None),
        ('"ab-9"', None),
        ('"cd-58"', None),
    ],
)
def test_a_feed_is_continued_only_from_an_edition_that_is_still_known(tag, held):
    assert held_count(EDITION, tag, "ab") == held


def test_about_the_wanted_share_of_sources_has_a_fault_and_keeps_it():
    faults = choose_faults(range(2_000), 0.1, seed=1)
    assert 150 < len(faults) < 250
    assert set(faults.values()) == set(Fault)
    assert choose_faults(range(1_000), 0.1, seed=1) == {n: fault for n, fault in faults.items() if n < 1_000}
    with pytest.raises(ValueError, match="share"):
        choose_faults([1], 1.1, seed=1)


@given(source=st.integers(0, 100), recorded=st.floats(0, 1e9))
def test_trouble_ends_and_is_over_then(source, recorded):
    until = trouble_until(source, recorded)
    if until is not None:
        assert 0 < until - recorded <= TROUBLE
        assert trouble_until(source, until) is None
