"""Measures of rankings against trec_eval itself, and test collections as people write them."""

import json
import random
import re

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from lab.evaluations.search.collections import (
    BadCollection,
    read_collection,
    read_headlines,
    unknown_documents,
)
from lab.evaluations.search.comparison import compare, gain
from lab.evaluations.search.scoring import FALLOUT_CUTOFFS, mean, score
from lab.evaluations.search.table import curves, figures, mean_of_collections, table
from lab.plots import linear_plot

NAMES = [f"d{number}" for number in range(60)]
rankings = st.lists(st.sampled_from(NAMES), unique=True)
some_grades = st.dictionaries(st.sampled_from([*NAMES, "lost"]), st.integers(-1, 4), min_size=1).filter(
    lambda grades: max(grades.values()) >= 1
)


def by_trec_eval(ranking, grades):
    binary = {document: int(grade >= 1) for document, grade in grades.items()}
    run = {document: float(-rank) for rank, document in enumerate(ranking)}
    names = {"map", "P", "recall", "Rprec", "iprec_at_recall", "11pt_avg", "ndcg_cut", "recip_rank", "num_ret"}
    names |= {"num_rel", "num_rel_ret"}
    return pytrec_eval.RelevanceEvaluator({"q": binary}, names).evaluate({"q": run})["q"]


@given(rankings.filter(bool), some_grades)
def test_measures_are_those_of_trec_eval(ranking, grades):
    expected = by_trec_eval(ranking, grades)
    ours = score(ranking, grades)
    shared = expected.keys() & ours.keys()
    assert len(shared) >= 35
    assert {name: ours[name] for name in shared} == pytest.approx({name: expected[name] for name in shared})


def test_measures_of_a_long_ranking_are_those_of_trec_eval():
    chance = random.Random(5)
    ranking = [f"d{number}" for number in range(1_200)]
    chance.shuffle(ranking)
    grades = dict.fromkeys(chance.sample(ranking, 70), 1)
    expected = by_trec_eval(ranking[:1_000], grades)
    ours = score(ranking, grades)
    assert {name: ours[name] for name in expected.keys() & ours.keys()} == pytest.approx(
        {name: expected[name] for name in expected.keys() & ours.keys()}
    )
    assert ours["num_ret"] == 1_000


@given(rankings, some_grades)
def test_measures_missing_from_trec_eval_follow_its_description(ranking, grades):
    ours = score(ranking, grades)
    relevant = {document for document, grade in grades.items() if grade >= 1}
    for cutoff in FALLOUT_CUTOFFS:
        bad, found = 0, 0
        for document in ranking:
            if document in relevant:
                found += 1
            elif bad == cutoff:
                break
            else:
                bad += 1
        assert ours[f"fallout_recall_{cutoff}"] == pytest.approx(found / len(relevant))
    three = [ours[f"iprec_at_recall_{level}"] for level in ("0.20", "0.50", "0.80")]
    assert ours["3pt_avg"] == pytest.approx(sum(three) / 3)
    first = next((rank for rank, document in enumerate(ranking, 1) if document in relevant), 0)
    assert ours["recip_rank_cut_10"] == (1 / first if 0 < first <= 10 else 0)


def test_a_query_that_nothing_answers_has_no_score():
    with pytest.raises(ValueError, match="without a relevant document"):
        score(["a"], {"a": 0})
    with pytest.raises(ValueError, match="no query can be scored"):
        mean([])


def test_counts_are_summed_and_the_rest_is_averaged_over_queries():
    both = mean([score(["a", "b"], {"a": 1}), score([], {"a": 1, "b": 1})])
    assert (both["num_q"], both["num_ret"], both["num_rel"], both["num_rel_ret"]) == (2, 2, 3, 1)
    assert (both["map"], both["P_5"], both["recall_5"]) == (0.5, 0.1, 0.5)


def test_in_the_mean_of_collections_each_counts_the_same():
    large, small = mean([score(["a"], {"a": 1})] * 9), mean([score(["b"], {"a": 1})])
    together = mean_of_collections([large, small])
    assert together["map"] == 0.5
    assert not [name for name in together if name.startswith("num_")]


def test_the_table_has_all_that_the_thesis_prints_for_each_model():
    scores = {"vsm": mean([score(["a", "b"], {"b": 1})]), "ours": mean([score(["b", "a"], {"b": 1})])}
    lines = {label: values for label, *values in table(scores) if values}
    assert lines["Mean average precision"] == ["0.5000", "1.0000"]
    assert lines["Relevant found"] == ["1", "1"]
    assert lines["142 of them"] == ["1.0000", "1.0000"]
    headings = [line[0] for line in table(scores) if len(line) == 1]
    assert headings[:3] == ["Interpolated precision", "Precision after", "Recall after"]
    assert curves(scores)["vsm"] == [(level / 10, 0.5) for level in range(11)]


def test_names_of_figures_are_flat():
    names = figures(mean([score(["a"], {"a": 1})]))
    assert {"map", "ndcg_10", "p_10", "mrr_10", "recall_1000", "rel_ret", "precision_at_recall_010"} <= names.keys()
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)
    assert json.loads(json.dumps(names)) == names


def test_a_plot_has_a_curve_for_each_model_within_its_frame():
    curve = [(level / 10, 1 - level / 10) for level in range(11)]
    drawn = linear_plot("a < b", "recall", "precision", {f"model {number}": curve for number in range(10)}, most=(1, 1))
    assert drawn.count("<polyline") == 10
    assert "a &lt; b" in drawn
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn).groups())
    for points in re.findall(r'points="([^"]+)"', drawn):
        for x, y in (map(float, point.split(",")) for point in points.split()):
            assert 0 <= x <= width
            assert 0 <= y <= height


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=3))
def test_chance_is_students(pairs):
    ours, theirs = map(list, zip(*pairs, strict=True))
    differences = {round(one - other, 6) for one, other in pairs}
    found = compare(ours, theirs)
    assert found.won + found.lost <= len(pairs)
    assert found.gain == pytest.approx(sum(ours) / sum(theirs) - 1)
    if len(differences) > 1:
        assert found.p == pytest.approx(ttest_rel(ours, theirs).pvalue, abs=1e-6)


def test_chance_is_one_without_differences():
    assert compare([0.5, 0.25], [0.5, 0.25]).p == 1
    assert compare([0.75, 0.5], [0.5, 0.25]).p == 0
    assert compare([0.5], [0.25]).p == 1  # one query proves nothing
    assert gain(0.5, 0.0) == 0
    with pytest.raises(ValueError, match="not 1 and 2"):
        compare([1], [1, 2])


# --- collections ------------------------------------------------------------------------------------------------------
DOCUMENTS = [b'{"_id": "a", "title": "Sun", "text": "Sun rises."}\n', b"\n", b'{"_id": 7, "text": "Moon"}\n']
QUERIES = ["1\twhere is the sün\tnow\r\n".encode(), b"2\tmoon\n", b"3\tstars\n"]
JUDGEMENTS = [b"1 0 a 2\n", b"2 0 7 1\n", b"2 0 gone 1\n", b"3 0 a -1\n", b"9 0 a 1\n"]


def test_a_collection_keeps_queries_with_relevant_documents():
    collection = read_collection(DOCUMENTS, QUERIES, JUDGEMENTS)
    assert [(each.identity, each.title, each.text) for each in collection.documents] == [
        ("a", "Sun", "rises."),
        ("7", "", "Moon"),
    ]
    assert collection.queries == {"1": "where is the sün\tnow", "2": "moon"}
    assert collection.judgements == {"1": {"a": 2}, "2": {"7": 1, "gone": 1}}
    assert unknown_documents(collection) == 1


def test_a_file_may_begin_with_a_byte_order_mark():
    collection = read_collection(DOCUMENTS, [b"\xef\xbb\xbf" + QUERIES[0]], JUDGEMENTS)
    assert list(collection.queries) == ["1"]


@pytest.mark.parametrize(
    ("documents", "queries", "judgements", "message"),
    [
        ([b"{"], QUERIES, JUDGEMENTS, "docs.jsonl, line 1, is not an object with _id and text"),
        ([b"[]"], QUERIES, JUDGEMENTS, "docs.jsonl, line 1, is not an object"),
        ([*DOCUMENTS, b'{"_id": "b"}'], QUERIES, JUDGEMENTS, "docs.jsonl, line 4, is not an object"),
        ([*DOCUMENTS, b'{"_id": "b", "text": null}'], QUERIES, JUDGEMENTS, "docs.jsonl, line 4, is not an object"),
        ([*DOCUMENTS, b"\xff\xfe"], QUERIES, JUDGEMENTS, "docs.jsonl, line 4, is not an object"),
        ([rb'{"_id": "b", "text": "\ud800"}'], QUERIES, JUDGEMENTS, "docs.jsonl, line 1, is not an object"),
        ([*DOCUMENTS, DOCUMENTS[0]], QUERIES, JUDGEMENTS, "docs.jsonl, line 4, names the same as line 1: 'a'"),
        (DOCUMENTS, [b"1 moon"], JUDGEMENTS, "queries.tsv, line 1, is not a name, a tab and a question: '1 moon'"),
        (DOCUMENTS, [*QUERIES, b"1\tsun"], JUDGEMENTS, "queries.tsv, line 4, names the same as line 1"),
        (DOCUMENTS, QUERIES, [b"1 0 a"], "qrels.txt, line 1, is not a query, anything, a document and a whole number"),
        (DOCUMENTS, QUERIES, [b"1 0 a much"], "qrels.txt, line 1, is not a query"),
        (DOCUMENTS, QUERIES, [*JUDGEMENTS, b"1 0 a 0"], "qrels.txt, line 6, names the same as line 1"),
        ([], QUERIES, JUDGEMENTS, "docs.jsonl holds no document"),
        (DOCUMENTS, QUERIES, [b"1 0 a 0"], "no query of queries.tsv has a relevant document in qrels.txt"),
    ],
)
def test_an_invalid_collection_is_refused_with_file_and_line(documents, queries, judgements, message):
    with pytest.raises(BadCollection, match=re.escape(message)):
        read_collection(documents, queries, judgements)


def test_characters_that_postgres_cannot_store_are_removed_from_texts():
    collection = read_collection([rb'{"_id": "a", "text": "sun\u0000rise "}'], QUERIES, JUDGEMENTS)
    assert collection.documents[0].text == "sun rise"


def test_a_story_is_stored_without_its_headline():
    story = {"id": 5, "headLine": "日出", "newsBeginning": "  太阳", "newsRemainder": "\n升起。"}
    collection = read_headlines("stories.jsonl", [json.dumps(story).encode()])
    assert (collection.documents[0].title, collection.documents[0].text) == ("", "太阳\n升起。")
    assert collection.judgements == {"5": {"5": 1}}
    with pytest.raises(BadCollection, match=r"stories\.jsonl, line 1, is not an object with id, headLine"):
        read_headlines("stories.jsonl", [b'{"id": 5}'])
    with pytest.raises(BadCollection, match=r"stories\.jsonl holds no story"):
        read_headlines("stories.jsonl", [])
