"""Detection of languages beside py3langid, whose model it reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from py3langid import rank

from apps.postings.algorithms.words import detection

letters = st.text(st.characters(categories=["L", "Nd", "Zs", "Po"]), min_size=1, max_size=60)
words = st.sampled_from(["the", "und", "στο", "Київ", "le", "新", "nghị", "ÇOK", "8"])
phrases = st.lists(words, min_size=1).map(" ".join)


@given(letters | phrases)
def test_scores_are_those_of_py3langid(text):
    expected = dict(rank(text))
    if len(set(expected.values())) > 1:  # otherwise it knows nothing of the text
        assert detection.scores(text) == pytest.approx(expected, rel=1e-5, abs=1e-3)


def test_files_hold_what_is_unpacked_where_none_can_be_written():
    detection.scores("A model is loaded")
    for mapped, unpacked in zip(detection._model(), detection._unpacked(), strict=True):
        assert np.array_equal(mapped, unpacked)
