"""What devices send of changes made offline, and what else may come there."""

import json
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.following.formats.offline import MAX_CHANGES, MAX_MESSAGE_BYTES, BadMessage, parse

MADE_AT = 1_714_561_200_000  # ms


def a_change(**values):
    return {"id": str(uuid4()), "posting": 7, "field": "read", "value": True, "made_at": MADE_AT} | values


def a_message(*changes, **values):
    return json.dumps({"person": "p", "sent_at": MADE_AT, "changes": list(changes)} | values).encode()


@pytest.mark.parametrize(
    "values",
    [
        {"posting": 0},
        {"posting": -1},
        {"posting": 2**63},
        {"posting": True},
        {"posting": "7"},
        {"posting": 7.0},
        {"field": "hidden"},
        {"field": None},
        {"field": ["read"]},
        {"value": 1},
        {"value": None},
        {"made_at": -1},
        {"made_at": 10**15},
        {"made_at": 1.5},
        {"made_at": "2024-05-01"},
    ],
)
def test_a_change_that_makes_no_sense_does_not_hold_up_the_others(values):
    bad, good = a_change(**values), a_change()
    message = parse(a_message(bad, good))
    assert message.refused == (bad["id"],)
    assert [str(change.id) for change in message.changes] == [good["id"]]


@pytest.mark.parametrize(
    "name", ["", "7", "{7d4a9b1e-3f60-4c0b-9d6b-1f2f4b8b2a11}", "7D4A9B1E-3F60-4C0B-9D6B-1F2F4B8B2A11"]
)
def test_a_change_has_one_way_to_write_its_id(name):
    assert parse(a_message(a_change(id=name))).refused == (name,)


@pytest.mark.parametrize("change", [None, 7, "x", [], {}, {"id": 7}])
def test_changes_without_id_are_skipped(change):
    message = parse(a_message(change, a_change()))
    assert (len(message.changes), message.refused) == (1, ())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 50_000, "not JSON"),
        (b"[]", "no list"),
        (b'{"changes": 7}', "no list"),
        (a_message(person=7), "whose"),
        (a_message(sent_at=None), "when"),
        (a_message(*[a_change()] * (MAX_CHANGES + 1)), "at most 200"),
        (b" " * (MAX_MESSAGE_BYTES + 1), "bytes"),
    ],
)
def test_invalid_messages_are_refused_with_a_reason(body, words):
    with pytest.raises(BadMessage, match=words):
        parse(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*a_change(), "changes", "sent_at", "person"]), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(json_values | st.fixed_dictionaries({"person": st.just("p"), "sent_at": st.just(1), "changes": json_values}))
def test_any_json_is_read_or_refused(value):
    try:
        message = parse(json.dumps(value).encode())
    except BadMessage:
        return
    assert len(message.changes) + len(message.refused) <= len(value["changes"])
