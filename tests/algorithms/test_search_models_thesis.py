"""The thesis' model against its formulas written out with dictionaries."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import Ranking
from extensions.algorithms import thesis
from tests.algorithms.search_twin import MemoryIndex, words_of

MODELS = {
    "vsm": thesis.query_weights,
    "vsm_qe": thesis.vsm_qe,
    "vsm_tr": thesis.vsm_tr,
    "vsm_qe_tr": thesis.vsm_qe_tr,
}
VOCABULARY = [f"w{number}" for number in range(90)]


def some_texts(seed, count=45):
    """Texts in which the first words of the vocabulary are the commonest, as in a language."""
    chance = random.Random(seed)
    shares = [1 / rank for rank in range(3, len(VOCABULARY) + 3)]
    return [" ".join(chance.choices(VOCABULARY, shares, k=chance.randint(5, 80))) for _ in range(count)]


def some_query(seed):
    return " ".join(random.Random(seed).choices(VOCABULARY[:40], k=5))


class Twin:
    """Scans all documents at every step."""

    def __init__(self, texts):
        self.documents = [Counter(text.split()) for text in texts]
        holding = Counter(word for document in self.documents for word in document)
        self.idf = {word: float(np.log(len(texts) / count)) for word, count in holding.items()}
        self.order = list(holding)
        self.weights = [{w: f * self.idf[w] for w, f in document.items()} for document in self.documents]

    def query(self, text):
        return {word: times * self.idf[word] for word, times in Counter(text.split()).items() if word in self.idf}

    def retrieve(self, query):
        found = []
        for number, weights in enumerate(self.weights):
            score = sum(weight * query.get(word, 0) for word, weight in weights.items())
            if score > 0:
                found.append((-score / math.sqrt(sum(w**2 for w in weights.values())), -number))
        return [(-number, -score) for score, number in sorted(found)][:1000]

    def gains(self, found):
        best, worst = found[:10], found[10:][-10:]
        counts = Counter()
        for sign, part in ((1, best), (-1, worst)):
            for number, _ in part:
                for word, frequency in self.documents[number].items():
                    counts[word] += sign * frequency
        return Counter({word: count * self.idf[word] for word, count in counts.items()})

    def expand(self, query, found):
        heaviest = sorted(self.gains(found).items(), key=lambda item: (-item[1], self.order.index(item[0])))[:30]
        return {word: self.idf[word] for word, gain in heaviest if gain > 0} | query

    def reweigh(self, query, found):
        gains = self.gains(found)
        return {word: max(0, weight + gains[word]) for word, weight in query.items() if weight > 0}

    def vsm(self, text):
        return self.retrieve(self.query(text))

    def vsm_qe(self, text):
        query = self.query(text)
        return self.retrieve(self.expand(query, self.retrieve(query)))

    def vsm_tr(self, text):
        query = self.query(text)
        return self.retrieve(self.reweigh(query, self.retrieve(query)))

    def vsm_qe_tr(self, text):
        query = self.query(text)
        query = self.expand(query, self.retrieve(query))
        return self.retrieve(self.reweigh(query, self.retrieve(query)))


def indexed(texts):
    index = MemoryIndex([words_of(text) for text in texts])
    return index, thesis.three_indexes(index.vectors, np.arange(len(texts)))


@pytest.mark.parametrize("model", sorted(MODELS))
@settings(max_examples=15)
@given(seed=st.integers(0, 10**9))
def test_each_model_is_its_formulas(model, seed):
    texts, query = some_texts(seed), some_query(seed + 1)
    index, indexes = indexed(texts)
    found = thesis.answer(indexes, MODELS[model](indexes, index, Query.of(words_of(query))))
    expected = getattr(Twin(texts), model)(query)
    assert dict(zip(found.documents.tolist(), found.scores.tolist(), strict=True)) == pytest.approx(dict(expected))
    assert found.documents.tolist() == [document for document, _ in expected]


def test_the_models_differ():
    texts, query = some_texts(3), some_query(4)
    index, indexes = indexed(texts)
    weights = [model(indexes, index, Query.of(words_of(query))) for model in MODELS.values()]
    answers = [tuple(thesis.answer(indexes, each).scores) for each in weights]
    assert len(set(answers)) == 4


def test_the_three_indexes_are_what_the_thesis_says():
    _, indexes = indexed(["storm storm flood", "flood vote"])
    assert indexes.idf[1:].tolist() == [math.log(2), 0.0, math.log(2)]
    assert indexes.docw.tolist() == [2 * math.log(2), math.log(2)]
    postings = slice(indexes.bounds[2], indexes.bounds[3])
    assert indexes.posting_documents[postings].tolist() == [0, 1]
    assert indexes.posting_frequencies[indexes.bounds[1] : indexes.bounds[2]].tolist() == [2]


def test_documents_that_may_not_be_found_are_no_part_of_the_indexes():
    index = MemoryIndex([words_of("storm"), words_of("storm flood"), words_of("flood")])
    indexes = thesis.three_indexes(index.vectors, np.array([2, 0]))
    weights = thesis.query_weights(indexes, index, Query.of(words_of("storm flood")))
    assert thesis.answer(indexes, weights).documents.tolist() == [2, 0]


def test_the_worst_documents_are_never_the_best():
    _, indexes = indexed(["storm", "storm storm flood", "vote"])
    few = Ranking(np.array([0, 1]), np.array([2.0, 1.0]))
    assert thesis.difference(indexes, few)[1] > 0


def test_added_term_weighs_its_idf_and_query_terms_stay():
    _, indexes = indexed(["storm flood", "storm flood", "vote", "vote", "vote", "vote"])
    weights = {1: 5.0}
    grown = thesis.expanded(indexes, weights, thesis.retrieve(indexes, weights))
    assert grown == {1: 5.0, 2: math.log(3)}


def test_negative_weight_becomes_zero_and_no_term_is_added():
    _, indexes = indexed(["storm"] * 10 + ["storm vote vote vote"] * 10 + ["flood"] * 20)
    found = Ranking(np.arange(20), np.arange(20, 0, -1.0))
    assert thesis.reweighted(indexes, {2: 0.5}, found) == {2: 0.0}


def test_unknown_words_find_nothing():
    index, indexes = indexed(["storm"])
    for model in MODELS.values():
        assert not len(model(indexes, index, Query.of(words_of("elsewhere"))))
