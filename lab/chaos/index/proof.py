"""Whether an archive holds all that its writers were told to be stored, as they last wrote it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from apps.postings.models import Posting
from apps.search import actions
from apps.search.algorithms.index.conditions import Stands
from apps.search.queries import snapshot
from lab.chaos.index.checking import Check, check

Lines = Sequence[dict[str, Any]]


def faults_of_archive(writers: Iterable[Lines]) -> list[str]:
    """A sentence for each thing that is wrong: with what was found already, and then with all that was stored."""
    lines = [line for writer in writers for line in writer]
    faults = [*_faults_of_index(), *_lost(lines, "added")]
    while (pulled := actions.consume()) and pulled.changes:
        pass
    actions.maintain()
    return [*faults, *_faults_of_index(), *_lost(lines, "stored")]


def _faults_of_index() -> list[str]:
    found = Check()
    for _ in check(found):
        pass
    return found.faults


def _lost(lines: Lines, confirmed: str) -> Iterator[str]:
    """Postings whose last confirmed words are not found, though no later ones may have taken their place.

    A writer that was killed may have stored what it never heard of, so its later intentions are as good.
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
    return [found.posting_id for found in index.such(Stands((number,))).newest(2)] if number else []
