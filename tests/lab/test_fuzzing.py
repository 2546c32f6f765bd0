"""Fuzzing: what it finds, keeps and reports. The inputs are few, so only mistakes that are easy to reach are found."""

import json
import time

import pytest
from django.core.management import CommandError, call_command

from apps.search.algorithms.language import BadQuery, parse
from lab.fuzzing import running
from lab.fuzzing.corpus import CURRENT, FAILURES, Corpus
from lab.fuzzing.inputs import MAX_INPUT
from lab.fuzzing.running import Runner
from lab.fuzzing.targets import TARGETS, Target


def parse_except_or(content):
    text = content.decode("utf-8", "replace")
    parse(text)
    if "OR" in text:
        raise KeyError("OR")


BROKEN = Target(parse_except_or, (BadQuery,), (b"tea and bread or cake",), (b"OR",))


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """A batch is made as a whole, however few of its inputs are run."""
    monkeypatch.setattr(running, "BATCH", 25)


def fuzz(target, folder, *, inputs=150, seed=1):
    return Runner(target, Corpus(folder), seed=seed, advance=lambda: None).run([], inputs=inputs, seconds=0.0)


@pytest.mark.parametrize("inputs", [8, pytest.param(20, marks=pytest.mark.trial)])
@pytest.mark.parametrize("name", TARGETS)
def test_every_target_takes_some_inputs_without_an_exception(name, inputs, tmp_path, capsys):
    figures = tmp_path / "figures.json"
    corpus = tmp_path / "corpus"
    call_command("fuzz", f"--inputs={inputs}", f"--target={name}", f"--corpus={corpus}", f"--json={figures}")
    assert json.loads(figures.read_text())[f"{name.replace(' ', '_')}_inputs"] >= inputs
    assert name in capsys.readouterr().out


def test_an_undocumented_exception_is_kept_with_the_shortest_input(tmp_path):
    [finding] = fuzz(BROKEN, tmp_path).findings.values()
    assert finding.error == "KeyError: 'OR'"
    content = finding.file.read_bytes()
    assert b"OR" in content
    assert len(content) == 3  # OR alone is no query


def test_an_exception_ends_the_command_with_1_and_is_found_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(TARGETS, "query", BROKEN)
    with pytest.raises(CommandError):
        call_command("fuzz", "--inputs=150", "--target=query", f"--corpus={tmp_path}")
    assert "KeyError: 'OR'" in capsys.readouterr().out
    assert fuzz(BROKEN, tmp_path / "query", inputs=1).findings


def test_inputs_that_reach_new_lines_are_kept_once(tmp_path):
    first = fuzz(TARGETS["query"], tmp_path, inputs=60)
    assert first.added > 0
    assert len([file for file in tmp_path.iterdir() if file.is_file()]) == first.added
    assert fuzz(TARGETS["query"], tmp_path, inputs=60).inputs >= 60


def test_the_same_seed_makes_the_same_inputs(tmp_path):
    seen = [[], []]
    for number in (0, 1):
        fuzz(Target(seen[number].append, (), (b"abc",), (b"x",)), tmp_path / str(number), inputs=50, seed=3)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 25


def test_an_input_that_ended_the_process_is_a_finding_of_the_next_run(tmp_path):
    Corpus(tmp_path).begin(b"segfault")
    report = fuzz(TARGETS["query"], tmp_path, inputs=1)
    [finding] = report.findings.values()
    assert finding.file.parent.name == FAILURES
    assert finding.file.read_bytes() == b"segfault"
    assert not (tmp_path / CURRENT).exists()


def test_an_input_that_takes_too_long_is_a_finding(tmp_path, monkeypatch):
    def work(content):
        end = time.process_time() + 30
        while time.process_time() < end:
            pass

    monkeypatch.setattr(running, "CPU_SECONDS", 0.1)
    [finding] = fuzz(Target(work), tmp_path, inputs=1).findings.values()
    assert finding.error.startswith("TooSlow")


def test_inputs_stay_small(tmp_path):
    sizes = []
    seed = bytes(MAX_INPUT)
    fuzz(Target(lambda content: sizes.append(len(content)), (), (seed,), (b"x",)), tmp_path, inputs=50)
    assert max(sizes) <= MAX_INPUT
