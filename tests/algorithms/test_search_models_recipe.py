"""Our ranking: its formula step by step, and what a reader may rely on."""

import math
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apps.search.algorithms.models.feedback import expansion, sharpened
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import bm25
from apps.search.algorithms.models.recipe import OURS, WITHOUT_FEEDBACK, Judgement, Recipe, search
from tests.algorithms.search_twin import MemoryIndex, words_of

VOCABULARY = [f"w{number}" for number in range(80)]
SOURCES = 7
seeds = st.integers(0, 10**9)
EAGER = Recipe(rarity=0)  # whose feedback is not kept from small archives of common words
few = settings(max_examples=15)  # each is a whole archive


def some_texts(seed, count=40):
    chance = random.Random(seed)
    shares = [1 / rank for rank in range(3, len(VOCABULARY) + 3)]
    return [" ".join(chance.choices(VOCABULARY, shares, k=chance.randint(5, 60))) for _ in range(count)]


def some_query(seed):
    return Query.of(words_of(" ".join(random.Random(seed + 1).choices(VOCABULARY[:40], k=4))))


def an_index(seed, count=40, **options):
    return MemoryIndex([words_of(text) for text in some_texts(seed, count)], sources=SOURCES, **options)


def scores_of(answer):
    return dict(zip(answer.ranking.documents.tolist(), answer.ranking.scores.tolist(), strict=True))


def plain(documents, query, recipe):
    """Scans all documents at every step of the recipe."""
    contents = [text.split() for text in documents]
    bags, n = [Counter(words) for words in contents], len(contents)
    average = sum(map(len, contents)) / n
    df = Counter(word for bag in bags for word in bag)

    def idf(word):
        return math.log(1 + (n - df[word] + 0.5) / (df[word] + 0.5)) if df[word] else 0

    def impact(frequency, length, mean):
        return frequency * 2.2 / (frequency + 1.2 * (0.4 + 0.6 * length / mean)) if frequency else 0

    def ranked(weights, pair_weight):
        found = {
            number: sum(
                weight * idf(word) * impact(bag[word], bag.total(), average) for word, weight in weights.items()
            )
            for number, bag in enumerate(bags)
        }
        found = {number: score for number, score in found.items() if score > 0}
        for number in sorted(found, key=lambda number: (-found[number], -number))[: recipe.pair_documents]:
            pairs = Counter(pairwise(contents[number]))
            for (x, y), times in query.pairs.items():
                value = impact(pairs[x, y], len(contents[number]) - 1, average - 1)
                found[number] += pair_weight * times * (idf(x) + idf(y)) / 2 * value
        return found

    weights = query.terms
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    first = ranked(weights, recipe.pair_weight)
    head = sorted(first, key=lambda number: (-first[number], -number))[: recipe.documents]
    falls = 1 - first[head[-1]] / first[head[0]]
    rarities = [idf(word) for word in weights if df[word]]
    edges = [*(first[number] / first[head[0]] - recipe.kept for number in head), falls - recipe.clear]
    assume(min(map(abs, [*edges, sum(rarities) / len(rarities) - recipe.rarity])) > 1e-6)  # or rounding decides
    if sum(rarities) / len(rarities) < recipe.rarity:
        return {number: score / length for number, score in first.items()}, {w: x / length for w, x in weights.items()}
    trust = {number: (first[number] / first[head[0]]) ** recipe.sharpness for number in head}
    sums = Counter()
    for number in head:
        vector = {word: (1 + math.log(f)) * math.log((n + 1) / df[word]) for word, f in bags[number].items()}
        docw = math.sqrt(sum(weight**2 for weight in vector.values()))
        for word, weight in vector.items():
            sums[word] += trust[number] / sum(trust.values()) * weight / docw
    sums = Counter({word: weight for word, weight in sums.items() if is_shared(word, head, bags)})
    kept = dict(sums.most_common(recipe.terms))
    edge = [weight for _, weight in sums.most_common(recipe.terms + 1)][recipe.terms - 1 :]
    assume(len(edge) < 2 or edge[0] > 1.000001 * edge[1])  # or rounding decides which of the two is added
    kept_length = math.sqrt(sum(weight**2 for weight in kept.values()))
    final = Counter({word: weight / length for word, weight in weights.items()})
    for word, weight in kept.items():
        final[word] += (recipe.feedback if falls >= recipe.clear else recipe.doubtful) * weight / kept_length
    second = ranked(final, recipe.pair_weight / length)
    best = max(second.values())
    near = {number: first[number] / length + best for number in head if first[number] >= recipe.kept * first[head[0]]}
    return second | near, final


def is_shared(word, head, bags):
    holders = [number for number in head if word in bags[number]]
    sources, of_all = ({number % SOURCES for number in numbers} for numbers in (holders, head))
    return len(holders) >= 2 and len(sources) >= min(2, len(of_all))


@few
@given(seeds)
def test_the_ranking_is_its_recipe(seed):
    documents, query = some_texts(seed), some_query(seed)
    recipe = Recipe(documents=7, terms=25, pair_documents=12, rarity=1)
    answer = search(an_index(seed, block_size=9), query, 100, recipe=recipe)
    scores, weights = plain(documents, query, recipe)
    assert answer.weights == pytest.approx(dict(weights), rel=1e-3)
    assert scores_of(answer) == pytest.approx(scores, rel=1e-3)


@few
@given(seeds)
def test_without_feedback_it_is_bm25_and_pairs(seed):
    index, words = an_index(seed), set(some_query(seed).terms)
    once = Query(dict.fromkeys(words, 1), {})
    found, plain_bm25 = search(index, once, 40, recipe=WITHOUT_FEEDBACK), bm25(index, once, 40)
    assert found.expansion.terms == ()
    assert found.ranking.documents.tolist() == plain_bm25.documents.tolist()
    assert found.ranking.scores * math.sqrt(len(words)) == pytest.approx(plain_bm25.scores, rel=1e-4)


@few
@given(seeds)
def test_the_same_question_has_the_same_answer(seed):
    first, second = (search(an_index(seed), some_query(seed), 20) for _ in range(2))
    assert first.expansion == second.expansion
    assert scores_of(first) == scores_of(second)


@few
@given(seeds, st.integers(1, 40))
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(seed, count):
    index, query = an_index(seed), some_query(seed)
    short, long = (search(index, query, n).ranking.documents.tolist() for n in (count, 100))
    assert short == long[:count]


@few
@given(seeds, st.integers(51, 90), st.sampled_from([1.0, 0.01]))
def test_what_the_first_pass_bounds_is_the_beginning_of_a_whole_ranking(seed, count, feedback):
    index, query = an_index(seed, 200, block_size=60, pack=True), some_query(seed)
    recipe = Recipe(rarity=0, feedback=feedback, doubtful=feedback)
    short, long = (search(index, query, n, recipe=recipe).ranking.documents.tolist() for n in (count, 200))
    assert short == long[:count]


@few
@given(seeds)
def test_added_terms_have_length_1_together_and_come_heaviest_first(seed):
    terms = search(an_index(seed), some_query(seed), 10, recipe=EAGER).expansion.terms
    weights = [term.weight for term in terms]
    assert sum(weight**2 for weight in weights) == pytest.approx(1)
    assert weights == sorted(weights, reverse=True)
    assert len(terms) <= OURS.terms
    assert all(weight > 0 for weight in weights)


@few
@given(seeds)
def test_each_added_term_names_documents_that_hold_it(seed):
    index, query = an_index(seed), some_query(seed)
    answer = search(index, query, 10, recipe=EAGER)
    assert answer.expansion.terms
    for term in answer.expansion.terms:
        assert 2 <= len(term.origins) <= 3
        assert len({document % SOURCES for document in index.holders(term.term)}) >= 2
        shares = [share for _, share in term.origins]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 1 + 1e-9
        assert all(term.term in index.counts[document] for document, _ in term.origins)
    assert {term.term for term in answer.expansion.added(query.terms)}.isdisjoint(query.terms)


@few
@given(seeds)
def test_a_removed_term_is_gone_and_others_take_its_place(seed):
    index, query = an_index(seed), some_query(seed)
    recipe = Recipe(terms=8, rarity=0)
    before = search(index, query, 10, recipe=recipe)
    removed = [term.term for term in before.expansion.added(query.terms)][:2]
    after = search(index, query, 10, recipe=recipe, judgement=Judgement(removed=removed))
    assert {term.term for term in after.expansion.terms}.isdisjoint(removed)
    assert set(after.weights).isdisjoint(set(removed) - set(query.terms))
    assert len(after.expansion.terms) == len(before.expansion.terms)


@few
@given(seeds)
def test_unwanted_postings_are_left_out_and_lend_no_terms(seed):
    index, query = an_index(seed), some_query(seed)
    first = search(index, query, 10)
    unwanted = first.ranking.documents[:2].tolist()
    after = search(index, query, 10, judgement=Judgement(unwanted=unwanted))
    assert set(after.ranking.documents.tolist()).isdisjoint(unwanted)
    assert all(document not in unwanted for term in after.expansion.terms for document, _ in term.origins)


@few
@given(seeds)
def test_wanted_postings_raise_similar_ones(seed):
    index, query = an_index(seed), some_query(seed)
    before = search(index, query, 100)
    wanted = int(before.ranking.documents[-1])
    after = search(index, query, 100, judgement=Judgement(wanted=[wanted]))
    position = before.ranking.documents.tolist().index(wanted)
    assert after.ranking.documents.tolist().index(wanted) <= position
    assert any(wanted in [document for document, _ in term.origins] for term in after.expansion.terms)


@few
@given(seeds, st.randoms(use_true_random=False))
def test_feedback_neither_finds_nor_learns_from_what_is_not_allowed(seed, chance):
    allowed = np.array([chance.random() < 0.5 for _ in range(40)])
    answer = search(an_index(seed, allowed=allowed), some_query(seed), 100)
    assert allowed[answer.ranking.documents].all()
    learnt_from = {document for term in answer.expansion.terms for document, _ in term.origins}
    assert all(allowed[document] for document in learnt_from)


def test_the_words_of_a_wanted_document_find_its_like_without_any_query():
    index = MemoryIndex([words_of(text) for text in ("storm flood rain", "flood rain", "vote budget", "vote")])
    answer = search(index, Query({}, {}), 10, judgement=Judgement(wanted=[0]))
    assert answer.ranking.documents.tolist() == [0, 1]


def test_a_question_about_nothing_finds_nothing():
    index = MemoryIndex([words_of("storm")])
    for query in (Query({}, {}), Query({"elsewhere": 1}, {}), Query({"elsewhere": 1}, {("elsewhere", "storm"): 1})):
        answer = search(index, query, 10)
        assert not len(answer.ranking)
        assert answer.expansion.terms == ()
    assert not len(search(MemoryIndex([]), Query({"storm": 1}, {}), 10).ranking)


def test_a_document_that_stands_out_speaks_alone():
    assert sharpened(np.array([10.0, 5.0, 5.0]), 6)[0] > 0.95
    assert sharpened(np.array([3.0, 3.0]), 6).tolist() == [0.5, 0.5]
    assert sharpened(np.array([]), 6).size == 0


def test_unwanted_documents_can_remove_a_term():
    index = MemoryIndex([words_of(text) for text in ("storm flood", "flood", "storm flood", "budget")])
    found = expansion(index, np.array([0, 1, 2]), np.array([0.5, -2.0, 0.5]), 10)
    assert [term.term for term in found.terms] == ["storm"]
    assert found.terms[0].origins == ((0, 0.5), (2, 0.5))


def test_a_term_of_one_document_or_source_and_a_number_are_not_added():
    texts = ["storm flood alone 1953", "storm flood 1953", "storm of_one", "storm of_one", "vote"]
    index = MemoryIndex([words_of(text) for text in texts], sources=2)
    assert lent(index, [0, 1, 2]) == {"storm", "flood"}
    assert lent(index, [0, 2]) == {"storm"}  # who published both: one source is enough
    assert lent(index, [0, 1], trusted=np.array([0])) == {"storm", "flood", "alone", "1953"}


def lent(index, documents, **options):
    found = expansion(index, np.array(documents), np.ones(len(documents)), 10, **options)
    return {term.term for term in found.terms}


def test_feedback_depends_on_how_clear_a_query_is():
    texts = ["storm flood rain", "storm flood", *["storm"] * 3, *["vote"] * 40]
    index = MemoryIndex([words_of(text) for text in texts])
    query = Query({"storm": 1, "flood": 1}, {})
    clear, doubtful = (search(index, query, 9, recipe=Recipe(clear=fall)).weights["storm"] for fall in (0.3, 0.9))
    assert clear > doubtful > 1 / math.sqrt(2)
    common = search(index, Query({"vote": 1}, {}), 9)
    assert common.expansion.terms == ()


def test_the_best_results_of_the_querys_own_words_stay_first():
    texts = ["storm", "storm cyclone cyclone", "storm cyclone", "cyclone cyclone", *["vote"] * 40]
    index = MemoryIndex([words_of(text) for text in texts])
    plain_first = search(index, Query({"storm": 1}, {}), 9, recipe=WITHOUT_FEEDBACK).ranking.documents.tolist()
    answer = search(index, Query({"storm": 1}, {}), 9)
    assert answer.ranking.documents.tolist()[:1] == plain_first[:1]
    assert answer.ranking.documents.tolist()[-1] == 3
    assert (np.diff(answer.ranking.scores) <= 0).all()


@few
@given(seeds, st.integers(0, 400))
def test_feedback_adds_the_heaviest_terms_whose_postings_may_be_read(seed, room):
    index, query = an_index(seed), some_query(seed)
    everything = search(index, query, 10, recipe=EAGER).expansion.terms
    some = search(index, query, 10, recipe=Recipe(rarity=0, postings=room)).expansion.terms
    expected = []
    for term in everything:
        [cost] = [0] if term.term in query.terms else index.document_frequencies(index.numbers([term.term])).tolist()
        if cost <= room:
            expected.append(term)
            room -= cost
    assert list(some) == expected
