"""Realistic queries with words of stored postings, and how long the index takes for them."""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from django.db import connection

from apps.database.statements import fetch
from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.search.algorithms.index.conditions import All, Stands
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.recipe import OURS, WITHOUT_FEEDBACK, Recipe, search
from apps.search.queries import Snapshot, snapshot
from lab.harness import cpu_seconds

Case = TypeVar("Case")

FIRST_WORDS = 8  # of a posting, from which a question's are drawn
RAREST = 5  # documents
RESULTS = 20
THIRTY_ADDED = Recipe(terms=33)  # the question's own three are among them


@dataclass(frozen=True, slots=True)
class Question:
    """A query of three words of a posting."""

    words: tuple[str, ...]
    language: str

    @property
    def text(self) -> str:
        return " ".join(self.words).lower()

    @property
    def query(self) -> Query:
        return Query.of(analyse(self.text, self.language))


def draw_questions(count: int, *, seed: int) -> list[Question]:
    """Queries of three of the first eight distinct words of a random posting that occur in five documents at least."""
    chance = random.Random(seed)
    [(end,)] = fetch("SELECT next_document FROM search_head")
    questions: list[Question] = []
    while len(questions) < count:
        rows = fetch(
            "SELECT document.language, posting.title || ' ' || posting.text FROM search_document document"
            " JOIN postings_posting posting ON posting.id = posting_id JOIN unnest(%s::int[]) wanted ON wanted = number"
            " ORDER BY number",
            [chance.sample(range(end), min(end, count))],
        )
        with snapshot() as index:
            drawn = [_question(text, language, chance, index) for language, text in rows]
        questions += [question for question in drawn if question]
    return questions[:count]


def _question(text: str, language: str, chance: random.Random, index: Snapshot) -> Question | None:
    words = analyse(text, language)
    spellings: dict[str, str] = {}
    for item, (start, end) in zip(words.sequence, words.places, strict=True):
        if item[0] != STOP_MARK and len(spellings) < FIRST_WORDS:
            spellings.setdefault(item, text[start:end])
    known = index.document_frequencies(index.numbers(list(spellings)))
    common = [
        spelling
        for spelling, documents in zip(spellings.values(), known.tolist(), strict=True)
        if documents >= RAREST and spelling.isalnum()
    ]
    return Question(tuple(chance.sample(common, 3)), language) if len(common) >= 3 else None


# --- searches ---------------------------------------------------------------------------------------------------------
def search_postings(question: Question, recipe: Recipe = WITHOUT_FEEDBACK) -> list[int]:
    """Postings for any of the words, by relevance."""
    with snapshot() as index:
        answer = search(index, question.query, RESULTS, recipe=recipe)
        return list(index.attributes(answer.ranking.documents).posting_ids.tolist())


def search_with_feedback(question: Question) -> list[int]:
    return search_postings(question, THIRTY_ADDED)


def search_as_portal(question: Question) -> list[int]:
    return search_postings(question, OURS)


def newest_with_both(question: Question) -> list[int]:
    """The newest postings with the first two words."""
    items = analyse(" ".join(question.words[:2]).lower(), question.language).sequence
    with snapshot() as index:
        words = All(tuple(Stands((number,)) for number in index.numbers(items).tolist()))
        return [found.posting_id for found in index.restricted(words).newest(RESULTS)]


def newest_of_all(_: object) -> list[int]:
    with snapshot() as index:
        return [found.posting_id for found in index.newest(RESULTS)]


# --- timing -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Timing:
    """Percentiles over many queries."""

    p50: float  # ms
    p99: float  # ms
    cpu: float  # ms of each on average, here and in Postgres

    @classmethod
    def of(cls, seconds: Sequence[float], cpu: float) -> "Timing":
        p50, p99 = np.percentile(np.array(seconds) * 1_000, [50, 99]).tolist()
        return cls(p50, p99, 1_000 * cpu / len(seconds))


def timed(do: Callable[[Case], Any], cases: Iterable[Case], *, before: Callable[[], None] = lambda: None) -> Timing:
    """Time `do` for each case, without `before`."""
    connection.ensure_connection()
    backend = connection.connection.info.backend_pid
    in_postgres = cpu_seconds(backend)
    seconds, used = [], 0.0
    for case in cases:
        before()
        begin, begin_of_cpu = time.perf_counter(), time.process_time()
        do(case)
        seconds.append(time.perf_counter() - begin)
        used += time.process_time() - begin_of_cpu
    return Timing.of(seconds, used + cpu_seconds(backend) - in_postgres)
