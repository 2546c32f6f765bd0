"""Conditions that attributes decide: of a few documents they say what they say of whole blocks."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.search.algorithms.index.conditions import (
    MAX_TABLE,
    All,
    Any,
    Before,
    DocumentSet,
    Languages,
    New,
    Not,
    Postings,
    Published,
    Sources,
)
from apps.search.algorithms.index.inversion import Attributes

SIZE = 20
places = st.integers(0, SIZE)
some = st.frozensets(places, max_size=6)
known = st.one_of(
    st.builds(Sources, some),
    st.builds(lambda ids: Sources(ids | {MAX_TABLE + 1, 2**63 - 1}), some),
    st.builds(Postings, some),
    st.builds(Languages, st.sampled_from([frozenset({"en"}), frozenset({"de", "fr"})])),
    st.builds(Published, places, places),
    st.builds(Before, places, places),
    st.builds(New, st.lists(st.tuples(places, places, places), max_size=3, unique_by=lambda each: each[0]).map(tuple)),
)
trees = st.recursive(
    known,
    lambda parts: st.one_of(
        st.builds(Not, parts), *(st.builds(kind, st.lists(parts, max_size=3).map(tuple)) for kind in (All, Any))
    ),
)
offsets = st.lists(st.integers(0, SIZE - 1), max_size=SIZE, unique=True).map(sorted)


def a_block(seed: int) -> SimpleNamespace:
    chance = np.random.default_rng(seed)
    numbers = chance.integers(0, SIZE, (3, SIZE))
    attributes = Attributes(*numbers, chance.choice(np.array([b"en", b"de", b"fr"], "S3"), SIZE))
    source_ids = attributes.source_ids.astype(chance.choice([np.uint16, np.int32]))
    return SimpleNamespace(size=SIZE, attributes=attributes, source_ids=lambda: source_ids)


@given(trees, st.integers(0, 1_000), offsets, st.sampled_from([np.uint16, np.uint32, np.int64]))
def test_a_few_documents_meet_it_as_in_the_whole_block(condition, seed, chosen, kind):
    block, at = a_block(seed), np.array(chosen, kind)
    sure, possible = condition.bounds(block)
    assert condition.is_known
    assert (sure == possible).all()
    assert condition.among(block, at).tolist() == sure[at].tolist()


@given(trees, st.booleans())
def test_a_condition_on_words_is_not_decided_by_attributes(condition, is_first):
    words = DocumentSet((1,))
    assert not words.is_known
    for kind in (All, Any):
        assert not kind((words, condition) if is_first else (condition, words)).is_known
    assert not Not(words).is_known
