"""Whether an archive holds everything that was confirmed to its writers, in the last written version."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from apps.postings.models import Posting
from apps.search import actions
from apps.search.algorithms.index.conditions import Stands
from apps.search.queries import snapshot
from lab.chaos.index.checking import Check, check

Lines = Sequence[dict[str, Any]]


def faults_of_archive(writers: Iterable[Lines]) -> list[str]:
    """Describe each fault: first of what was searchable already, then of all that was stored."""
    lines = [line for writer in writers for line in writer]
    faults = [*_faults_of_index(), *_lost(lines, "added")]
    while actions.reindexing.consume():
        pass
    actions.segment_building.maintain()
    return [*faults, *_faults_of_index(), *_lost(lines, "stored")]


def _faults_of_index() -> list[str]:
    found = Check()
    for _ in check(found):
        pass
    return found.faults


def _lost(lines: Lines, confirmed: str) -> Iterator[str]:
    """Postings that are not found by their last confirmed words.

    A killed writer may have stored more than was confirmed to it, so words that it was about to store are accepted too.
    """
    acceptable: dict[str, set[str]] = {}
    words: dict[str, set[str]] = {}
    known: set[str] = set()
    for line in lines:
        for guid, word in line.get("storing", {}).items():
            words.setdefault(guid, set()).add(word)
            acceptable.setdefault(guid, set()).add(word)
        for guid, word in line.get(confirmed, {}).items():
            acceptable[guid] = {word}
            known.add(guid)
    ids = dict(Posting.objects.filter(guid__in=known).values_list("guid", "pk"))
    with snapshot() as index:
        index.numbers(sorted({word for guid in known for word in words[guid]}))  # all at once
        for guid in sorted(known):
            found = {word for word in words[guid] if ids.get(guid) in _postings_with(index, word)}
            if len(found) != 1 or not found <= acceptable[guid]:
                yield f"{guid} is found by {sorted(found)} instead of one of {sorted(acceptable[guid])}"


def _postings_with(index: Any, word: str) -> list[int]:
    [number] = index.numbers([word]).tolist()
    return [found.posting_id for found in index.restricted(Stands((number,))).newest(2)] if number else []
