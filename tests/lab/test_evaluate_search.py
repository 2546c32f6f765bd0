"""The evaluation of search, on small collections of its own, through the index in Postgres."""

import json
import lzma
import re

import pytest
from django.core.management import CommandError, call_command

from apps.postings.models import Posting
from apps.search.models import Document as Indexed
from apps.search.models import Generation, OutboxRow
from apps.sources.models import Source
from lab.evaluations.search.collections import Document
from lab.evaluations.search.runs import MODELS, language_of_documents
from tests.builders import a_source

pytestmark = pytest.mark.django_db

WEATHER = {
    "storm-1": "A storm hits the coast & floods the harbour <town>.",
    "storm-2": "The storm leaves the coast.",
    "vote-1": "Parliament votes on the budget.",
    "vote-2": "The budget vote is late.",
    "twin-1": "Nothing happens.",
    "twin-2": "Nothing happens.",
    "empty": "",
}
QUERIES = {"q1": "coast storms", "q2": "budget", "q3": "elsewhere", "q4": "nobody judged this"}
JUDGEMENTS = ["q1 0 storm-1 1", "q1 0 storm-2 2", "q2 0 vote-2 1", "q2 0 vote-1 0", "q2 0 gone 1", "q3 0 twin-1 1"]


def a_collection(folder, documents=WEATHER, queries=QUERIES, judgements=JUDGEMENTS):
    folder.mkdir()
    lines = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in documents.items()]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    (folder / "queries.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in queries.items()))
    (folder / "qrels.txt").write_text("\n".join(judgements))
    return folder


def some_stories(path, stories):
    lines = [
        {"id": number, "headLine": headline, "newsBeginning": text, "newsRemainder": "。"}
        for number, (headline, text) in enumerate(stories)
    ]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines))
    return path


def evaluate(tmp_path, **options):
    output = tmp_path / "figures.json"
    call_command("evaluate_search", json=output, **options)
    return json.loads(output.read_text())


def test_known_answers_have_known_scores(tmp_path, capsys):
    found = evaluate(tmp_path, collection=[a_collection(tmp_path / "weather")])
    assert found["weather.bm25.q"] == 3
    assert found["weather.bm25.rel"] == 5
    assert found["weather.bm25.rel_ret"] == 3
    # q1: both at the top; q2: one of two, at the top since it is shorter, or second; q3: nothing.
    assert found["weather.bm25.map"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["weather.ours.map"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["weather.vsm.p_5"] == pytest.approx((2 / 5 + 1 / 5 + 0) / 3)
    assert found["weather.ours.mrr_10"] == pytest.approx(2 / 3)
    assert found["mean.ours.map"] == found["weather.ours.map"]
    assert found["weather.ours_over_bm25.map"] == 0
    assert found["weather.ours_over_bm25.p"] == 1
    assert {name.split(".")[1] for name in found if not re.search("_over_", name)} == set(MODELS)
    printed = capsys.readouterr().out
    assert "weather, 7 documents" in printed
    assert "1 relevant documents of qrels.txt are not in docs.jsonl" in " ".join(printed.split())
    assert "VSM+QE+TR" in printed


def test_feedback_finds_what_shares_no_word_with_the_query(tmp_path):
    texts = {
        "a": "storm cyclone wind",
        "b": "storm cyclone damage",
        "c": "cyclone damage",
        **{f"other-{number}": f"parliament votes on budget {number}" for number in range(20)},
    }
    judgements = ["1 0 a 1", "1 0 b 1", "1 0 c 1", "2 0 other-3 1"]
    folder = a_collection(tmp_path / "winds", texts, {"1": "storm", "2": "budget 3"}, judgements)
    found = evaluate(tmp_path, collection=[folder])
    assert found["winds.bm25.map"] == found["winds.plain.map"] == pytest.approx((2 / 3 + 1) / 2)
    assert found["winds.ours.map"] == 1
    assert found["winds.rm3.map"] == 1
    assert found["winds.ours_over_bm25.map"] == pytest.approx(0.2)
    assert {name: found[f"winds.ours.{name}"] for name in ("hurt", "ri", "rr")} == {"hurt": 0, "ri": 0.5, "rr": 1}
    assert found["winds.ours.added"] == 0.5


def test_words_of_titles_count_twice(tmp_path):
    folder = a_collection(tmp_path / "titles", {}, {"1": "storm"}, ["1 0 titled 1"])
    documents = [("titled", "Storm", "News again."), ("text", "News", "A storm.")]  # of equal ones the last is first
    lines = [json.dumps({"_id": name, "title": title, "text": text}) for name, title, text in documents]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    found = evaluate(tmp_path, collection=[folder])
    assert found["titles.plain.map"] == found["titles.ours.map"] == 1
    assert found["titles.flat.map"] == found["titles.bm25.map"] == 0.5


def test_three_words_of_a_headline_find_its_article(tmp_path):
    stories = [("总理访问柏林市", "德国柏林，总理今天访问"), ("股市上涨", "上海股市今天大幅上涨")]
    items = tmp_path / "items.jsonl.xz"
    titles = [f"bridge{number} river{number} engine{number}" for number in range(6)]
    lines = [{"src": number % 2, "t": 1_700_000_000, "title": title, "desc": ""} for number, title in enumerate(titles)]
    items.write_bytes(lzma.compress("\n".join(map(json.dumps, lines)).encode()))
    (tmp_path / "sources.csv").write_text("src,lang\n0,en\n1,pl-PL\n")
    found = evaluate(
        tmp_path,
        items=items,
        chinese=some_stories(tmp_path / "stories.jsonl", stories),
        known=9,
    )
    assert set(found) == {f"known.{code}.{name}" for code in ("en", "pl", "zh", "all") for name in ("ours", "bm25")}
    assert set(found.values()) == {1}


def test_collections_do_not_meet_and_leave_nothing_behind(tmp_path):
    winds = a_collection(tmp_path / "winds", {"a": "storm", "b": "calm"}, {"1": "storm"}, ["1 0 a 1"])
    weather = a_collection(tmp_path / "weather")
    together = evaluate(tmp_path, collection=[weather, winds])
    assert not Posting.objects.exists()
    assert not Source.objects.exists()
    assert not Indexed.objects.exists()
    assert not Generation.objects.exists()
    assert not OutboxRow.objects.exists()
    alone = evaluate(tmp_path, collection=[winds])
    assert alone.items() >= {name: value for name, value in together.items() if name.startswith("winds.")}.items()
    assert together["mean.ours.map"] == pytest.approx((together["weather.ours.map"] + together["winds.ours.map"]) / 2)


def test_headlines_find_their_stories_in_chinese(tmp_path):
    stories = [("总理访问柏林", "德国柏林，总理今天访问"), ("股市上涨", "上海股市今天大幅上涨"), ("大雨", "北京有雨")]
    plot = tmp_path / "plot.svg"
    found = evaluate(tmp_path, chinese=some_stories(tmp_path / "stories.jsonl", stories), plot=plot)
    assert found["chinese.ours.mrr_10"] == 1
    assert not [name for name in found if name.startswith("mean.")]
    assert plot.read_text().count("<polyline") == len(MODELS)


def test_the_plot_shows_every_model(tmp_path):
    plot = tmp_path / "plot.svg"
    evaluate(tmp_path, collection=[a_collection(tmp_path / "weather")], plot=plot)
    assert [label in plot.read_text() for label in MODELS.values()] == [True] * len(MODELS)
    assert "weather" in plot.read_text()


def test_the_language_of_a_collection_is_that_of_the_majority_of_its_documents():
    texts = ["Der Bundestag hat gewählt", "The vote", "Die Regierung ist zurückgetreten"]
    assert language_of_documents([Document(str(n), "", text) for n, text in enumerate(texts)]) == "de"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("docs.jsonl", "{}\n", r"weather: docs\.jsonl, line 1, is not an object with _id and text"),
        (
            "queries.tsv",
            "q1 storm\n",
            r"weather: queries\.tsv, line 1, is not a name, a tab and a question: 'q1 storm'",
        ),
        ("qrels.txt", "q1 0 storm-1 1\nq1\n", r"weather: qrels\.txt, line 2, is not a query, anything, a document"),
        ("qrels.txt", None, r"weather/qrels\.txt cannot be read: No such file or directory"),
    ],
)
def test_a_folder_that_is_no_collection_is_refused(tmp_path, name, content, message):
    folder = a_collection(tmp_path / "weather")
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)
    with pytest.raises(CommandError, match=message):
        call_command("evaluate_search", collection=[folder])
    assert not Source.objects.exists()


def test_invalid_arguments_are_refused_before_any_work(tmp_path):
    folder = a_collection(tmp_path / "weather")
    with pytest.raises(CommandError, match="Name at least one collection"):
        call_command("evaluate_search")
    with pytest.raises(CommandError, match="there is another collection of the name weather"):
        call_command("evaluate_search", collection=[folder, folder])
    with pytest.raises(CommandError, match=r"none/x\.json cannot be written: there is no folder"):
        call_command("evaluate_search", collection=[folder], json=tmp_path / "none" / "x.json")
    with pytest.raises(CommandError, match=r"none\.jsonl"):
        call_command("evaluate_search", chinese=tmp_path / "none.jsonl")
    a_source()
    with pytest.raises(CommandError, match="This database holds sources"):
        call_command("evaluate_search", collection=[folder])
