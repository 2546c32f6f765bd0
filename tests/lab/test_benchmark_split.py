import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

MEASURES = ("makespan", "total", "median", "unusual", "shorter")
METHODS = ("hash", "tetea", "longest_first", "pull", "pull_longest_first")


def run(tmp_path, *options):
    output = StringIO()
    call_command("benchmark_split", *options, f"--json={tmp_path / 'split.json'}", stdout=output)
    return json.loads((tmp_path / "split.json").read_text()), output.getvalue()


def test_made_up_records_are_split_in_every_way(tmp_path):
    figures, table = run(tmp_path, "--records=20000", "--splits=20")
    expected = {
        f"{scheme}{method}.{measure}"
        for scheme in ("", "whole.", "boxed.")
        for method in METHODS
        for measure in MEASURES
    }
    assert expected <= set(figures)
    assert figures["hash.makespan"] == figures["whole.hash.makespan"]
    assert figures["longest_first.shorter"] == pytest.approx(
        1 - figures["longest_first.makespan"] / figures["hash.makespan"]
    )
    assert figures["whole.longest_first.makespan"] >= figures["whole.bound"]
    assert "Tasks are whole hosts" in table


def test_the_same_seed_gives_the_same_figures(tmp_path):
    first, _ = run(tmp_path, "--records=2000", "--splits=5", "--seed=3")
    assert run(tmp_path, "--records=2000", "--splits=5", "--seed=3")[0] == first
    assert run(tmp_path, "--records=2000", "--splits=5", "--seed=4")[0] != first


def test_recorded_times_are_learnt_from_in_their_first_half_and_split_in_their_second(tmp_path):
    hosts = {"slow.example": 9.0, "quick.example": 1.0, "usual.example": 2.0}
    rows = [
        {"host": host, "kind": "article", "size": 1000 + number, "seconds": seconds}
        for number in range(20)
        for host, seconds in hosts.items()
    ]
    (tmp_path / "times.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    figures, table = run(tmp_path, f"--times={tmp_path / 'times.jsonl'}", "--splits=3")
    assert figures["hash.total"] == 120  # of 240 seconds
    assert figures["bound"] == 40
    assert figures["whole.longest_first.makespan"] == figures["whole.bound"] == 90
    assert "30 records of 3 hosts" in table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "fewer than two records"),
        ('{"host": "a"}\n', "Line 1 of .* is no"),
        ('{"host": "a", "kind": "b", "size": 1, "seconds": 2}\n{', "Line 2 of .* is no"),
        ('{"host": "a", "kind": "b", "size": 1, "seconds": -2}\n', "Line 1 of .* no amount"),
    ],
)
def test_a_file_of_other_things_is_refused_by_line(tmp_path, content, message):
    (tmp_path / "times.jsonl").write_text(content)
    with pytest.raises(CommandError, match=message):
        run(tmp_path, f"--times={tmp_path / 'times.jsonl'}")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"none\.jsonl cannot be read"):
        run(tmp_path, f"--times={tmp_path / 'none.jsonl'}")


def test_nothing_can_be_split_into_no_splits():
    with pytest.raises(CommandError, match="must be at least 1"):
        call_command("benchmark_split", "--splits=0")
