import json
import lzma
import math
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from lab.evaluations.retrieval.contenders import STATISTICS, at_own_cost
from lab.evaluations.retrieval.peers import FIXED, RIVALS
from lab.evaluations.retrieval.synthetic import synthetic_fold

NEW_YEAR = 1672531200  # 2023-01-01, a Sunday


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Twenty weeks of three sources, the first of which is not good."""
    random = np.random.default_rng(0)
    lines = [
        f"{source},{NEW_YEAR + int(second)}"
        for source, count in (("0", 400), ("1", 900), ("2", 300))
        for second in np.sort(random.random(count)) * 20 * 7 * 86400
    ]
    (tmp_path / "sources.csv").write_text("src,good\n0,0\n1,1\n2,1\n")
    path = tmp_path / "postings.csv"
    path.write_text("\n".join(["src,epoch", *lines]) + "\n")
    return path


def test_the_command_writes_every_figure_of_every_fold_and_their_mean(trace: Path, tmp_path: Path) -> None:
    output = StringIO()
    call_command(
        "evaluate_retrieval",
        f"--trace={trace}",
        "--good",
        "--folds=8,12",
        "--x=2,0.5",
        "--policies=uniform,newsblur",
        f"--json={tmp_path / 'result.json'}",
        f"--svg={tmp_path / 'plots'}",
        stdout=output,
    )
    result = json.loads((tmp_path / "result.json").read_text())
    assert set(result) == {
        f"{fold}.x{x}.{policy}.{name}"
        for fold in ("w8", "w12", "all")
        for x in ("2", "0.5")
        for policy in ("uniform", "newsblur")
        for name in STATISTICS
    }
    assert all(math.isfinite(value) for value in result.values())
    assert result["w8.x2.uniform.mean"] == pytest.approx(360, rel=0.1)
    low, high = sorted(result[f"{fold}.x2.newsblur.mean"] for fold in ("w8", "w12"))
    assert low <= result["all.x2.newsblur.mean"] <= high
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {"w8.svg", "w12.svg", "all.svg"}
    assert "w12, 2023-03-26 on: 2 sources" in output.getvalue()
    assert "/ uniform" in output.getvalue()


@pytest.mark.trial
def test_planned_in_bytes_postings_wait_less_for_as_many_bytes(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abcdefghijklmnopqrstuvwxyz"), 8)) for _ in range(2_000)]
    lines = [
        {"src": source, "t": NEW_YEAR + int(second), "title": "News", "desc": " ".join(random.choice(words, 40))}
        for source in range(12)
        for second in random.random(120) * 15 * 7 * 86400
    ]
    with lzma.open(tmp_path / "items.jsonl.xz", "wt") as file:
        file.write("\n".join(map(json.dumps, lines)))
    about = [f"{source},http://s{source}.test/,2023-01-01,en,{int(source < 10)}" for source in range(12)]
    (tmp_path / "sources.csv").write_text("\n".join(["src,url,first,lang,good", *about]))
    arguments = (f"--items={tmp_path / 'items.jsonl.xz'}", "--folds=8", "--x=4", f"--json={tmp_path / 'found.json'}")
    output = StringIO()
    call_command("evaluate_retrieval", *arguments, stdout=output)
    found = json.loads((tmp_path / "found.json").read_text())
    assert "10 sources" in output.getvalue()
    for share in ("0.25", "0.5", "0.75"):
        assert found[f"w8.x4.validators{share}.bytes_ratio"] == pytest.approx(1, rel=0.02)
        assert found[f"w8.x4.validators{share}.delay_ratio"] < 0.9


def test_the_best_published_policy_is_one_more(trace: Path, tmp_path: Path) -> None:
    output, written = StringIO(), f"--json={tmp_path / 'result.json'}"
    policies = "--policies=uniform,allocation,combined"
    call_command("evaluate_retrieval", f"--trace={trace}", "--folds=8,12", "--x=2", policies, written, stdout=output)
    result = json.loads((tmp_path / "result.json").read_text())
    for fold in ("w8", "w12"):
        published = [result[f"{fold}.x2.{policy}.mean"] for policy in ("allocation", "combined")]
        assert result[f"{fold}.x2.paper_best.mean"] == min(published)
    low, high = sorted(result[f"{fold}.x2.paper_best.mean"] for fold in ("w8", "w12"))
    assert low <= result["all.x2.paper_best.mean"] <= high
    assert "Miniflux, FreshRSS, reader, tt-rss" in " ".join(output.getvalue().split())


def test_readers_are_shown_at_their_own_cost() -> None:
    found = at_own_cost(synthetic_fold("poisson", sources=20))
    each = {name: round(statistics.retrievals) for name, statistics in found.items()}
    assert [each[name] for name in ("Miniflux, round_robin", "FreshRSS", "reader", "tt-rss")] == [24, 24, 24, 48]
    assert found["tt-rss"].mean == pytest.approx(15, rel=0.05)
    assert set(each) == {rival.name for rival in (*FIXED, *RIVALS.values())}


def test_made_up_postings_need_no_trace(tmp_path: Path) -> None:
    call_command(
        "evaluate_retrieval",
        "--synthetic=drift",
        "--x=4",
        "--policies=uniform",
        f"--json={tmp_path / 'result.json'}",
        stdout=StringIO(),
    )
    result = json.loads((tmp_path / "result.json").read_text())
    assert set(result) == {f"synthetic.x4.uniform.{name}" for name in STATISTICS}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Give either --trace or --synthetic"),
        (["--trace={trace}", "--synthetic"], "Give either --trace or --synthetic"),
        (["--trace={trace}.missing"], r"postings\.csv\.missing is no file"),
        (["--trace={trace}", "--folds=30"], "fold 30 ends on 2023-09-10, but the trace on 2023-05-2"),
        (["--trace={trace}", "--folds=eight"], "'eight' is no list of whole weeks"),
        (["--trace={trace}", "--x=4,many"], "'4,many' is no list of numbers"),
        (["--trace={trace}", "--x=0"], "lie between 1/7 and 288"),
        (["--trace={trace}", "--x=nan"], "lie between 1/7 and 288"),
        (["--trace={trace}", "--policies=guess"], "There is no policy 'guess'; choose from ours"),
        (["--trace={trace}", "--cap=0"], "--cap must be more than 0"),
        (["--trace={trace}", "--folds=8", "--svg={trace}"], "cannot be made a folder"),
    ],
)
def test_bad_input_is_named(trace: Path, arguments: list[str], complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        call_command("evaluate_retrieval", *(argument.format(trace=trace) for argument in arguments))


def test_a_line_that_cannot_be_read_is_named(trace: Path) -> None:
    with trace.open("a") as file:
        file.write("1,soon\n")
    with pytest.raises(CommandError, match=r"postings\.csv, line 1602: 'soon' is no time"):
        call_command("evaluate_retrieval", f"--trace={trace}")
