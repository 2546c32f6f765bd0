"""Continuous load on the index, each kind in its own process: a background for measurements, or a target to be killed.

A process prints a line of JSON for each piece of work that the database has confirmed, and retries while the database
is unavailable.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from apps.database.statements import fetch
from apps.postings.actions import Document, store
from apps.search import actions
from apps.search.algorithms.index import levels
from apps.search.algorithms.models.recipe import search
from apps.search.queries import Snapshot, TooCostly, snapshot
from apps.sources.actions.editing import add_source
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from lab.benchmarks.index.searching import RESULTS, Question, draw_questions
from lab.chaos.index.proof import faults_of_archive
from lab.worlds.index import posting_ids

Report = Callable[[dict[str, Any]], None]

QUERIES = 50  # that a reader repeats
WORDS = ("market", "vote", "storm", "league", "budget", "river", "engine", "treaty", "museum", "harvest", "signal")
ADDED_AT_ONCE, EDITED_AT_ONCE = 20, 4  # postings


def start(kind: str, *arguments: str, output: Path, **environment: str) -> "subprocess.Popen[bytes]":
    """Start a process that works until it is killed or this one exits; its output is appended to a file."""
    with output.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "django", "exercise_index", kind, *arguments, "--parent", str(os.getpid())],
            cwd=settings.BASE_DIR,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
        )


@contextmanager
def exercising(kind: str, *arguments: str, output: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """Run such a process until the end of the block."""
    process = start(kind, *arguments, output=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until_orphaned(do: Callable[[], None], report: Report, *, parent: int, pause: float = 0.0) -> None:
    """Repeat `do` while the parent process lives."""
    while os.getppid() == parent:
        try:
            do()
        except (OperationalError, InterfaceError, TooCostly) as error:
            report({"away": str(error).strip()})
            connection.close()
            time.sleep(0.1)
        time.sleep(pause)


# --- adding and editing -----------------------------------------------------------------------------------------------
class Writer:
    """Adds postings and edits some of them, each version with a unique word."""

    def __init__(self, label: str, report: Report) -> None:
        self._label, self._report = label, report
        self._chance = random.Random(label)
        self._source_id = 0
        self._count = 0  # of postings
        self._versions = 0

    def write(self) -> None:
        self._source_id = self._source_id or add_source(Source(url=f"https://{self._label}.example/feed"))
        edited = self._chance.sample(range(self._count), min(EDITED_AT_ONCE, self._count))
        numbers = [*edited, *range(self._count, self._count + ADDED_AT_ONCE)]
        self._count += ADDED_AT_ONCE  # even if this fails: it is unknown then what was stored
        words = {f"{self._label}-{number}": self._own_word() for number in numbers}
        now = datetime.now(UTC)
        entries = [
            ParsedEntry(
                guid=guid,
                link=f"https://news.example/{guid}",
                title=" ".join(self._chance.choices(WORDS, k=6)),
                content=f"<p>{' '.join(self._chance.choices(WORDS, k=20))} {word}</p>",
                published=now,
            )
            for guid, word in words.items()
        ]
        self._report({"storing": words})
        store([Document(self._source_id, entries, "https://news.example/", "", "en", now)])
        self._report({"stored": words})
        while actions.reindexing.consume():
            pass
        self._report({"added": words})

    def _own_word(self) -> str:
        self._versions += 1
        return f"own{self._label}x{self._versions}"


# --- reading ----------------------------------------------------------------------------------------------------------
class Reader:
    """Searches for words and for the newest postings, and checks the results for consistency."""

    def __init__(self, seed: int, report: Report) -> None:
        self._seed, self._report = seed, report
        self._queries: list[Question] = []
        self._count = 0
        self._max_documents = 0  # documents seen so far; nothing is deleted, so the number never falls

    def read(self) -> None:
        self._queries = self._queries or draw_questions(QUERIES, seed=self._seed)
        question = self._queries[self._count % QUERIES]
        self._count += 1
        begin = time.perf_counter()
        with snapshot() as index:
            ranked = search(index, question.query, RESULTS).ranking.documents
            seconds = time.perf_counter() - begin
            newest = [found.document for found in index.newest(RESULTS)]
            faults = [*self._faults(index), *_faults_of(ranked), *_faults_of(np.array(newest))]
        self._report({"seconds": seconds, "documents": self._max_documents, "faults": faults})

    def _faults(self, index: Snapshot) -> list[str]:
        before, self._max_documents = self._max_documents, max(self._max_documents, index.documents)
        return [f"{index.documents:,} documents after {before:,}"] if index.documents < before else []


def _faults_of(documents: Any) -> list[str]:
    ids = posting_ids(documents)
    known = {id for (id,) in fetch("SELECT id FROM postings_posting WHERE id = ANY(%s)", [ids])}
    faults = [f"posting {id} was found and is not there" for id in ids if id not in known]
    if len(set(ids)) < len(ids):
        faults.append(f"a posting was found twice among {ids}")
    return faults


# --- the processes ----------------------------------------------------------------------------------------------------
def run(
    kind: str, *, parent: int, label: str, sizes: Sequence[int], pause: float, outputs: Sequence[Path] = ()
) -> None:
    """Work as `read`, `write` or `maintain` until the parent process is gone; or `prove` once."""
    if sizes:
        levels.SMALLEST, levels.MIDDLE, levels.LARGEST = sizes
    report = _print_json
    match kind:
        case "prove":
            report({"faults": faults_of_archive([read_output(output) for output in outputs])})
        case "write":
            until_orphaned(Writer(label, report).write, report, parent=parent, pause=pause)
        case "read":
            until_orphaned(Reader(int(label), report).read, report, parent=parent, pause=pause)
        case "maintain":
            until_orphaned(
                lambda: report({"steps": actions.segment_building.maintain(at_least=levels.SMALLEST)}),
                report,
                parent=parent,
                pause=pause,
            )


def _print_json(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def read_output(output: Path) -> list[dict[str, Any]]:
    """The complete lines that a process has printed so far."""
    whole, _, _ = output.read_text(encoding="utf-8").rpartition("\n") if output.exists() else ("", "", "")
    return [json.loads(line) for line in whole.splitlines()]
