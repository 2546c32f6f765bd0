"""Ranking by weighted terms, BM25 with and without RM3, and pairs, each against a loop over all documents."""

import math
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apps.search.algorithms.models import bm25 as weights_of_bm25
from apps.search.algorithms.models.bm25 import impacts, inverse_document_frequencies, packed, points
from apps.search.algorithms.models.index import Row, Sequences
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import best, bm25, ranked
from apps.search.algorithms.models.recipe import count_pairs, pair_bonus
from extensions.algorithms.rm3 import rm3_weights
from tests.algorithms.search_twin import MemoryBlock, MemoryIndex, words_of

WORDS = [f"w{number}" for number in range(12)]
texts = st.lists(st.lists(st.sampled_from([*WORDS, "_the"]), max_size=15).map(" ".join), min_size=1, max_size=25)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


def rm3(index, query, count):
    return ranked(index, *rm3_weights(index, query), count)


def plain_scores(documents, wanted):
    """BM25 of weighted words, as its authors write it."""
    bags = [Counter(words_of(document).terms) for document in documents]
    average = sum(bag.total() for bag in bags) / len(bags)
    scores = {}
    for number, bag in enumerate(bags):
        total = 0.0
        for word, weight in wanted.items():
            holding = sum(word in other for other in bags)
            idf = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
            burden = 1.2 * (1 - 0.6 + 0.6 * bag.total() / max(average, 1e-9))
            total += weight * idf * bag[word] * 2.2 / (bag[word] + burden) if bag[word] else 0
        if total > 0:
            scores[number] = total
    return scores


def found_scores(ranking):
    return dict(zip(ranking.documents.tolist(), ranking.scores.tolist(), strict=True))


@given(texts, queries, st.integers(1, 10))
def test_bm25_is_its_formula_however_the_documents_are_shared_out(documents, query, block_size):
    index = MemoryIndex([words_of(text) for text in documents], block_size=block_size)
    found = bm25(index, Query.of(words_of(query)), 100)
    assert found_scores(found) == pytest.approx(plain_scores(documents, Counter(query.split())), rel=1e-5)


@given(texts, queries, st.integers(1, 10), st.integers(1, 8), st.randoms(use_true_random=False))
def test_the_best_are_the_beginning_of_all(documents, query, block_size, count, chance):
    """With filters and factors, too, and although blocks that cannot matter are not read."""
    words = [words_of(text) for text in documents]
    allowed = np.array([chance.random() < 0.7 for _ in documents])
    factors = np.array([chance.choice([0.25, 0.5, 1.0]) for _ in documents], np.float32)
    index = MemoryIndex(words, block_size=block_size, allowed=allowed, factors=factors, pack=True)
    numbers = index.numbers(query.split())
    weights = np.array([chance.uniform(-1, 2) for _ in numbers])
    every, some = (best(index.blocks(numbers), weights, n) for n in (1_000, count))
    assert some.documents.tolist() == every.documents[:count].tolist()
    assert allowed[every.documents].all()
    assert (every.scores > 0).all()
    order = list(zip(-every.scores, -every.documents, strict=True))
    assert order == sorted(order)  # of equal ones the newest first
    plain = best(MemoryIndex(words, pack=True).blocks(numbers), weights, 1_000)
    expected = {number: score * factors[number] for number, score in found_scores(plain).items() if allowed[number]}
    assert found_scores(every) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_terms_that_cannot_matter_are_left_out_without_anyone_seeing_it(seed):
    """Rare and common terms in blocks large enough for documents to be looked up one by one."""
    chance = np.random.default_rng(seed)
    blocks, plain = [], []
    weights = np.array([5.0, 2.0, 1.0, 0.5, -0.5])
    for first in range(9_000, -1, -3_000):
        rows, sums = [], np.zeros(3_000)
        for share, weight in zip((0.003, 0.02, 0.3, 0.8, 0.2), weights, strict=True):
            held = np.flatnonzero(chance.random(3_000) < share)
            values = chance.integers(60, 256, held.size).astype(np.uint8)
            rows.append(Row(held.astype(np.uint16), values) if chance.random() < 0.9 else None)
            sums[held] += weight * values * 2.2 / 255 if rows[-1] else 0
        mask = chance.random(3_000) < 0.8
        factor = chance.choice([0.5, 1.0], 3_000) if seed % 2 else None
        blocks.append(MemoryBlock(first, 3_000, rows, mask, factor))
        scores = sums * mask * (1 if factor is None else factor)
        plain += [(-score, -number) for number, score in enumerate(scores, first) if score > 0]
    found = best(blocks, weights, 30)
    expected = sorted(plain)[:30]
    assert found.scores.tolist() == pytest.approx([-score for score, _ in expected], rel=1e-5)
    assert set(found.documents.tolist()[:20]) <= {-number for _, number in expected}


@given(texts, queries, st.integers(1, 10), st.integers(1, 8))
def test_no_document_above_the_least_score_is_missed(documents, query, block_size, count):
    index = MemoryIndex([words_of(text) for text in documents], block_size=block_size, pack=True)
    numbers = index.numbers(query.split())
    weights = np.arange(1.0, len(numbers) + 1)
    every = best(index.blocks(numbers), weights, count)
    for score in every.scores.tolist():
        above = best(index.blocks(numbers), weights, count, score)
        assert above.documents.tolist() == every.documents[every.scores > score].tolist()


def test_a_block_whose_bound_is_too_low_is_not_read():
    index = MemoryIndex([words_of("storm")] * 6, block_size=3, factors=np.array([0.1] * 3 + [1.0] * 3, np.float32))
    new, old = index.blocks(index.numbers(["storm"]))
    old.rows = None  # reading them would fail
    assert best([new, old], np.array([1.0]), 3).documents.tolist() == [5, 4, 3]


@given(st.lists(st.integers(1, 300), min_size=1, max_size=30), st.integers(1, 400), st.floats(1, 400))
def test_a_packed_impact_is_off_by_less_than_a_step(frequencies, length, average):
    exact = impacts(frequencies, length, average)
    assert ((exact > 0) & (exact < 2.2)).all()
    unpacked = points(packed(exact), 1_000) / 1_000 / 255 * 2.2
    assert np.abs(unpacked - exact).max() <= 2.2 / 255 + 1e-6
    assert (points(packed(exact), -1_000) == -points(packed(exact), 1_000)).all()


def test_impacts_grow_with_frequency_and_fall_with_length():
    assert (np.diff(impacts([1, 2, 5, 255], [10] * 4, 10)) > 0).all()
    assert (np.diff(impacts([2] * 4, [1, 10, 50, 65_535], 10)) < 0).all()
    assert weights_of_bm25.K1 == 1.2
    assert weights_of_bm25.B == 0.6


def test_rarer_terms_are_worth_more_and_none_is_worth_less_than_nothing():
    values = inverse_document_frequencies([1, 2, 50, 100, 101], 100)  # one more than there are, as while some die
    assert (np.diff(values) <= 0).all()
    assert (values > 0).all()


# --- RM3 --------------------------------------------------------------------------------------------------------------
def plain_rm3(documents, query):
    bags = [Counter(text.split()) for text in documents]
    first = sorted(plain_scores(documents, Counter(query.split())).items(), key=lambda item: (-item[1], -item[0]))[:10]
    total = sum(score for _, score in first)
    likely = Counter()
    for number, score in first:
        for word, frequency in bags[number].items():
            likely[word] += score / total * frequency / bags[number].total()
    expansion = dict(likely.most_common(30))
    counts = Counter(query.split())
    mixed = Counter({word: 0.5 * times / counts.total() for word, times in counts.items()})
    for word, share in expansion.items():
        mixed[word] += 0.5 * share / sum(expansion.values())
    return plain_scores(documents, mixed)


@settings(max_examples=20)
@given(st.integers(0, 10**9))
def test_rm3_mixes_half_of_the_query_with_half_of_its_best_documents(seed):
    chance = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(29)]  # none of which is left out
    documents = [" ".join(chance.choices(vocabulary, range(29, 0, -1), k=chance.randint(3, 40))) for _ in range(30)]
    query = " ".join(chance.choices(vocabulary, k=4))
    best = sorted(plain_scores(documents, Counter(query.split())).values(), reverse=True)
    assume(len(best) <= 10 or best[9] - best[10] > 1e-5 * best[9])  # of equals, rounding decides which is the tenth
    index = MemoryIndex([words_of(text) for text in documents])
    found = rm3(index, Query.of(words_of(query)), 100)
    assert found_scores(found) == pytest.approx(plain_rm3(documents, query), rel=1e-4)


def test_rm3_takes_the_thirty_likeliest_words():
    rich = "storm " * 50 + " ".join(f"w{number} " * (number + 1) for number in range(40))
    index = MemoryIndex([words_of(text) for text in (rich, *(f"w{number}" for number in range(40)))])
    found = rm3(index, Query.of(words_of("storm")), 100)
    assert set(found.documents.tolist()) == {0, *range(40 - 29 + 1, 41)}  # the storm itself is the thirtieth


def test_rm3_where_little_or_nothing_is_found():
    documents = ["storm flood storm", "storm vote", "vote vote budget", "budget"]
    index = MemoryIndex([words_of(text) for text in documents])
    found = rm3(index, Query.of(words_of("storm storm vote")), 100)
    assert found_scores(found) == pytest.approx(plain_rm3(documents, "storm storm vote"), rel=1e-5)
    assert len(rm3(index, Query.of(words_of("budget nothing")), 1)) == 1
    assert not len(rm3(index, Query.of(words_of("nothing")), 1))


# --- pairs ------------------------------------------------------------------------------------------------------------
@given(texts, st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), unique=True, min_size=1))
def test_pairs_are_counted_where_nothing_but_stop_words_stands_between(documents, pairs):
    index = MemoryIndex([words_of(text) for text in documents])
    numbers = index.numbers([word for pair in pairs for word in pair]).reshape(-1, 2)
    pairs = [pair for pair, known in zip(pairs, (numbers > 0).all(axis=1), strict=True) if known]
    numbers = numbers[(numbers > 0).all(axis=1)]
    if not pairs:
        return
    counts, lengths = count_pairs(index.sequences(range(len(documents))), numbers)
    contents = [[word for word in text.split() if word != "_the"] for text in documents]
    assert counts.tolist() == [[Counter(pairwise(words))[pair] for pair in pairs] for words in contents]
    assert lengths.tolist() == [len(words) for words in contents]


def test_pairs_of_no_document_are_none():
    counts, lengths = count_pairs(Sequences(np.empty(0, np.int64), np.array([0])), np.array([[1, 2]]))
    assert counts.shape == (0, 1)
    assert lengths.shape == (0,)


@given(texts, queries)
def test_the_bonus_of_pairs_is_bm25_with_the_mean_idf_of_their_words(documents, query):
    index = MemoryIndex([words_of(text) for text in documents])
    pairs = Query.of(words_of(query)).pairs
    found = pair_bonus(index, np.arange(len(documents)), pairs)
    contents = [[word for word in text.split() if word != "_the"] for text in documents]
    average = max(sum(map(len, contents)) / len(contents) - 1, 1)
    for words, bonus in zip(contents, found.tolist(), strict=True):
        expected = 0.0
        for pair, times in Counter(pairwise(query.split())).items():
            holding = [sum(word in other for other in contents) for word in pair]
            idf = [math.log(1 + (len(contents) - df + 0.5) / (df + 0.5)) for df in holding]
            f = Counter(pairwise(words))[pair]
            burden = 1.2 * (0.4 + 0.6 * max(len(words) - 1, 0) / average)
            expected += times * sum(idf) / 2 * f * 2.2 / (f + burden) if f else 0
        assert bonus == pytest.approx(expected, rel=1e-5)


def test_query_counts_words_and_pairs():
    query = Query.of(words_of("new _the york new york"))
    assert query.terms == {"new": 2, "york": 2}
    assert query.pairs == {("new", "york"): 2, ("york", "new"): 1}
    assert not Query.of(words_of("_the"))
