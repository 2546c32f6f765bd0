"""Every search tried on every posting: the baseline of the percolator, with which it has to agree."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from apps.alerts.models import Hit
from apps.postings.algorithms.words import analyse, language_of
from apps.postings.queries import PostingText
from apps.search.algorithms.language import parse
from lab.benchmarks.alerts.matching import PostingValues, matches


def scan(queries: Mapping[int, str], postings: Sequence[PostingText], *, now: datetime) -> tuple[float, int]:
    """Seconds for one query on one posting; and how many hits are missing or too many, which should be none.

    Trees are parsed before, and words analysed once for each text: what could be done in advance is not counted.
    """
    trees = {saved_id: parse(query) for saved_id, query in queries.items()}
    wrong, seconds = 0, 0.0
    for posting in postings:
        remembered: dict[str, list[str]] = {}
        code = language_of(f"{posting.title}\n{posting.text}", posting.language)

        def analysed(text: str, code: str = code, known: dict[str, list[str]] = remembered) -> list[str]:
            if text not in known:
                known[text] = analyse(text, code).sequence
            return known[text]

        values = PostingValues(posting.title, posting.text, posting.source_id, (), (), code, "", posting.published_at)
        # A search that matches a posting without words has only stop words of this language: it is no candidate.
        nothing = replace(values, title="", text="")
        candidates = {id for id, tree in trees.items() if not matches(tree, nothing, analyse=analysed, now=now)}
        analysed(f"{values.title}\n{values.text}")
        begin = time.perf_counter()
        found = {id for id, tree in trees.items() if matches(tree, values, analyse=analysed, now=now)}
        seconds += time.perf_counter() - begin
        hits = Hit.objects.filter(posting_id=posting.id, saved_id__in=trees)
        wrong += len((found & candidates) ^ set(hits.values_list("saved_id", flat=True)))
    return seconds / max(1, len(trees) * len(postings)), wrong
