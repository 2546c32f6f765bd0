"""What commands that start a whole portal count: the memory of its roles, steps of its work, and its answers."""

import subprocess
import sys
import time

import pytest

from apps.search.actions.reindexing import consume
from lab.benchmarks import steps
from lab.benchmarks.index import over_http
from lab.benchmarks.index.searching import Question
from lab.benchmarks.steps import Used
from lab.management.commands import benchmark_footprint
from lab.management.commands.benchmark_posting import Span, _figures, _of_steps
from tests.builders import a_posting

SUPERVISOR = """
import os, subprocess, sys
work = "import os; sum(range(10**6)); {}os.write(1, b'.'); os.read(0, 1)"
for name, first in (("launcher.forking", "os.fork(); "), ("retrieval@here", "")):
    subprocess.Popen([sys.executable, "-c", work.format(first), name])
os.read(0, 1)
"""


def test_processes_of_a_portal_are_counted_by_role():
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SUPERVISOR], **pipe, process_group=0) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.read(3) == b"..."  # all have started
        roles, cpu = benchmark_footprint._roles(supervisor.pid), benchmark_footprint._cpu(supervisor.pid)
        supervisor.communicate(b"end.")  # a byte for each
    assert {name: role.processes for name, role in roles.items()} == {"supervisor": 1, "nursery": 2, "retrieval": 1}
    assert all(role.pss > 0 and role.threads >= role.processes for role in roles.values())
    assert cpu.keys() == roles.keys()
    assert min(cpu["nursery"], cpu["retrieval"]) > 0


def test_steps_count_once_in_the_span_in_which_they_end(tmp_path, monkeypatch):
    file = tmp_path / "steps"
    monkeypatch.setenv(steps.VARIABLE, str(file))
    clock = iter([Used(0.0, 0.0), Used(1.0, 0.0), Used(3.0, 1.0), Used(4.0, 1.0)])
    monkeypatch.setattr(steps, "used", lambda: next(clock))
    began = time.time()
    with steps._counted("whole"), steps._counted("part"):
        pass
    ended = time.time()
    cpu = {"retrieval": 4.0, "Postgres": 1.0}
    spans = {name: Span(2, began, ended, cpu) for name in ("import", "new", "same bytes", "idle")}
    spans["not modified"] = Span(2, ended, ended + 1, cpu)
    counted = _of_steps(file, spans)
    of_both = {"import": 1_000.0, "new": 1_000.0, "same bytes": 1_000.0}
    assert counted == {"part": {name: 1.5 * ms for name, ms in of_both.items()}, "whole": of_both}
    figures = _figures(spans, counted)
    assert figures["cpu_ms_per_new"] == figures["new.cpu_ms"] == 2_500.0
    assert figures["import.retrieval.cpu_ms"] + figures["import.Postgres.cpu_ms"] == figures["import.cpu_ms"]
    assert figures["import.step.part.cpu_ms"] == 1_500.0


@pytest.mark.django_db(transaction=True)
def test_pages_of_results_are_timed_and_one_without_results_is_an_error(live_server):
    a_posting(title="Harbour bridge closed", language="en")
    consume()
    found, unknown = Question(("Harbour", "bridge", "closed"), "en"), Question(("Zebra",), "en")
    assert min(over_http._seconds(live_server.url, [found, found])) > 0
    with pytest.raises(RuntimeError, match="zebra was answered with 200"):
        list(over_http._seconds(live_server.url, [found, unknown]))
