"""How summaries are compared."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from lab.evaluations.summaries.collections import Budget, Collection, Example, read_lines, sample
from lab.evaluations.summaries.evaluation import evaluate, numbers, prepare, summary
from lab.evaluations.summaries.methods import METHODS
from lab.evaluations.summaries.rouge import Rouge, paired_bootstrap

WORDS = st.lists(st.sampled_from(["cat", "dog", "mouse", "sat"]), min_size=1, max_size=9)
CHARACTERS = st.text("中国队赢了", min_size=1, max_size=9)

STORY = " ".join(
    f"{who} {what} the {which} bridge on {day}."
    for who, what, which, day in zip(
        ["Workers", "Engineers", "Sailors", "Divers", "The mayor", "Neighbours", "Children"],
        ["closed", "inspected", "left", "searched", "opened", "watched", "painted"],
        ["harbour", "old", "harbour", "stone", "new", "harbour", "wooden"],
        ["Monday", "Tuesday", "Sunday", "Friday", "Monday", "Thursday", "Monday"],
        strict=True,
    )
)


@pytest.mark.parametrize(("language", "texts"), [("en", WORDS.map(" ".join)), ("zh", CHARACTERS)])
def test_rouge_2_is_the_f1_of_shared_pairs(language: str, texts):
    rouge = Rouge(language)

    @given(texts, texts)
    def check(one: str, two: str) -> None:
        pairs = [Counter(pairwise(text.split() if language == "en" else text)) for text in (one, two)]
        shared, total = (pairs[0] & pairs[1]).total(), pairs[0].total() + pairs[1].total()
        assert rouge.score(one, two)[1] == pytest.approx(2 * shared / total if total else 0.0)

    check()


def test_a_bootstrap_is_the_same_each_time_and_narrows_with_more_documents():
    few = np.random.default_rng(1).normal(0.5, 1, 50)
    assert paired_bootstrap(few, 3) == paired_bootstrap(few, 3) != paired_bootstrap(few, 4)
    low, high = paired_bootstrap(few, 3)
    assert low < few.mean() < high
    many_low, many_high = paired_bootstrap(np.tile(few, 20), 3)
    assert many_high - many_low < (high - low) / 3


def test_all_methods_write_the_same_length_and_only_the_last_one_taken_is_cut():
    collection = Collection("bridges", "en", Budget(words=10), (Example("", STORY, "The mayor opened a bridge."),))
    [prepared], _ = prepare(collection)
    for name, method in METHODS.items():
        order = method(prepared)
        assert sorted(order) == list(range(7)), name
        assert len(summary(prepared, order, collection.budget).split()) == 10, name
        assert summary(prepared, order, Budget(sentences=3)).count("\n") == 2, name
    assert summary(prepared, [4, 0], collection.budget) == "Workers closed\nThe mayor opened the new bridge on Monday."
    assert METHODS["lead"](prepared) == range(7)


@pytest.mark.trial
def test_results_are_flat_and_the_mean_is_over_the_collections_that_are_named():
    examples = (Example("", STORY, "The mayor opened the new bridge."), Example("", STORY, "Divers dived."))
    chosen = {name: METHODS[name] for name in ("lead", "ours")}
    results = {}
    for name, sentences in (("one", 1), ("two", 2), ("other", 3)):
        collection = Collection(name, "en", Budget(sentences=sentences), examples)
        results[name] = dict(evaluate(*prepare(collection), collection, chosen, clock=iter(range(99)).__next__))
    found = numbers(results, ["one", "two"])
    assert found["ours.rouge2_f"] == pytest.approx(
        (found["one.ours.rouge2_f"] + found["two.ours.rouge2_f"]) / 2, abs=1e-5
    )
    assert found["ours.docs_per_s"] == 2  # two collections of two in a second each
    assert found["one.ours_over_lead.low"] <= found["one.ours_over_lead.high"]
    assert all(isinstance(value, float | int) for value in found.values())


def test_texts_of_few_sentences_are_not_summarised():
    collection = Collection("short", "en", Budget(sentences=1), (Example("", "One. Two.", "One."),))
    assert prepare(collection) == ([], [])


def test_a_sample_is_the_same_each_time():
    examples = read_lines([json.dumps({"text": f"Text {number}.", "summary": "Text."}) for number in range(50)])
    assert sample(examples, 9) == sample(examples, 9)
    assert len(sample(examples, 9)) == 9
    assert sample(examples, 50) == tuple(examples)


@pytest.mark.parametrize("line", ["{", '{"text": "No summary."}', '{"summary": "No text."}', "[]"])
def test_a_line_that_is_no_example_is_named(line: str):
    with pytest.raises(ValueError, match="line 2 is no text with its summary or headline"):
        read_lines(['{"text": "A.", "summary": "A."}', line])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for folder, text in (("articles", f"Bridges\n\n{STORY}\n"), ("summaries", "The mayor opened.He left a £5 bridge.")):
        (tmp_path / folder / "local").mkdir(parents=True)
        (tmp_path / folder / "local" / "1.txt").write_bytes(text.encode("latin-1"))
    line = {"id": "a", "text": f"(CNN){STORY}", "summary": "Workers closed the bridge .\nDivers searched ."}
    (tmp_path / "cnn-1.jsonl").write_text(json.dumps(line) + "\n")
    return tmp_path


@pytest.mark.trial
def test_the_command_writes_flat_numbers_and_a_picture(data: Path, capsys: pytest.CaptureFixture[str]):
    chinese = data / "chinese.lines"
    text = "总理今天访问柏林。他会见德国总理。天气很好。记者问了问题。他明天回国。"
    chinese.write_text(json.dumps({"headLine": "总理访问柏林", "newsBeginning": text, "newsRemainder": text}) + "\n")
    output, plot = data / "out.json", data / "out.svg"
    call_command("evaluate_summaries", data=data, chinese=chinese, json=output, plot=plot)
    found = json.loads(output.read_text())
    for method in METHODS:
        for measure in ("rouge1_f", "rouge2_f", "rougeLsum_f"):
            means = [found[f"{name}.{method}.{measure}"] for name in ("cnn", "bbc")]
            assert found[f"{method}.{measure}"] == pytest.approx(sum(means) / 2, abs=1e-5)
        assert f"chinese.{method}.rouge2_f" in found
    assert found["ours.docs_per_s"] > 0
    assert found["chinese.lead.rouge2_f"] > 0
    assert plot.read_text().count("<rect") == 3 * len(METHODS)
    assert "3 sentences against the reference, 1 documents" in capsys.readouterr().out


def test_the_command_says_what_is_wrong_with_its_folder(tmp_path: Path):
    with pytest.raises(CommandError, match=r"neither articles/ and summaries/ nor \*.jsonl"):
        call_command("evaluate_summaries", data=tmp_path)
    (tmp_path / "cnn.jsonl").write_text("{}\n")
    with pytest.raises(CommandError, match=r"cnn.jsonl, line 1 is no text"):
        call_command("evaluate_summaries", data=tmp_path)
