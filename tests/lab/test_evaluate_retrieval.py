import json
import math
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from lab.evaluations.retrieval.contenders import STATISTICS

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
