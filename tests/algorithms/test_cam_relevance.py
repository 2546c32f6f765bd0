"""The vector space model beside its formula written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.cam.relevance import page_weights, relevances

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
    found = relevances(pages, queries).toarray()
    expected = [[cosine(vector(page, pages), vector(list(query), pages)) for query in queries] for page in pages]
    assert found == pytest.approx(np.array(expected))
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


def test_the_weight_of_a_page_grows_with_the_importance_of_its_queries_alone():
    relevance = relevances([["storm", "rain"], ["tennis"]], [["storm"], ["tennis"]])
    plain, doubled = page_weights(relevance, [1, 1]), page_weights(relevance, [2, 1])
    assert doubled.tolist() == pytest.approx([2 * plain[0], plain[1]])
