"""The vector space model beside its formula written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.cam.relevance import unit_vector

words = st.sampled_from(["storm", "florida", "rain", "football", "tennis"])
texts = st.lists(st.lists(words, max_size=6), min_size=1, max_size=4)
questions = st.lists(st.sets(words, max_size=3), min_size=1, max_size=3)


def cosine(one, other):
    product = sum(one[term] * other.get(term, 0.0) for term in one)
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return product / lengths if lengths else 0.0


def vector(terms, pages):
    known = {term for term in terms if any(term in page for page in pages)}
    return {
        term: (1 + math.log(terms.count(term))) * math.log1p(len(pages) / sum(term in page for page in pages))
        for term in known
    }


@given(texts, questions)
def test_relevance_is_the_cosine_of_tf_idf_vectors(pages, queries):
    known = sorted({term for page in pages for term in page})

    def unit(terms):
        held = [term for term in known if term in terms]
        columns, counts = [known.index(term) for term in held], [terms.count(term) for term in held]
        frequencies = [sum(term in page for page in pages) for term in held]
        return unit_vector(np.array(columns, int), np.array(counts, int), np.array(frequencies, int), len(pages))

    def matrix(rows):
        found = np.zeros((len(rows), len(known)))
        for row, (columns, weights) in zip(found, map(unit, map(list, rows)), strict=True):
            row[columns] = weights
        return found

    found = matrix(pages) @ matrix(queries).T
    expected = [[cosine(vector(page, pages), vector(list(query), pages)) for query in queries] for page in pages]
    assert found == pytest.approx(np.array(expected))
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()
