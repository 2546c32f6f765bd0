"""Orders that people make by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.following.algorithms.ordering import STEPS, placed, rearranged, stepped

orders = st.lists(st.integers(0, 50), unique=True, min_size=1, max_size=12)


@st.composite
def an_order_and_one_of_it(draw):
    order = draw(orders)
    return order, draw(st.sampled_from(order))


@given(an_order_and_one_of_it(), st.sampled_from(STEPS))
def test_a_step_moves_one_and_leaves_the_others_as_they_are(given_order, step):
    order, item = given_order
    after = stepped(order, item, step)
    assert sorted(after) == sorted(order)
    assert [each for each in after if each != item] == [each for each in order if each != item]
    at, ends = order.index(item), {"first": 0, "last": len(order) - 1}
    wanted = ends.get(step, max(at - 1, 0) if step == "up" else min(at + 1, len(order) - 1))
    assert after.index(item) == wanted


@given(an_order_and_one_of_it())
def test_up_and_down_again_is_where_it_was_unless_it_was_at_the_end(given_order):
    order, item = given_order
    if order[0] != item:
        assert stepped(stepped(order, item, "up"), item, "down") == order


@given(orders, st.integers(0, 60), st.integers(0, 60) | st.none())
def test_placed_items_are_before_the_other_or_last(order, item, before):
    after = placed(order, item, before)
    if item == before:
        assert after == order
        return
    place = after.index(item)
    assert after[place + 1 : place + 2] == ([before] if before in order else [])
    assert after[:place] + after[place + 1 :] == [each for each in order if each != item]


@given(st.data())
def test_a_part_is_sorted_on_its_own_places(data):
    whole = data.draw(orders)
    part = data.draw(st.permutations(whole).flatmap(lambda all: st.integers(0, len(all)).map(lambda n: all[:n])))
    after = rearranged(whole, part)
    # Slow and obvious: the places that the part has, filled in its order.
    places = sorted(whole.index(item) for item in part)
    expected = list(whole)
    for place, item in zip(places, part, strict=True):
        expected[place] = item
    assert after == expected


@pytest.mark.parametrize("part", ["ax", "aa"])
def test_items_outside_of_the_order_are_refused(part):
    with pytest.raises(ValueError, match="different items"):
        rearranged("abc", part)
