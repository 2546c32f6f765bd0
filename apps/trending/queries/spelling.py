"""Terms by their numbers: found again in postings that hold them, since no dictionary is kept."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from apps.trending.algorithms.spelling import best_spelling
from apps.trending.queries.texts import texts


def keys_of(holding: Mapping[int, Sequence[int]]) -> dict[int, str]:
    """The key of each term, given some postings that hold it; those are left out that none of them holds any more."""
    return {number: key for number, (key, _) in _found(holding).items()}


def spellings_of(holding: Mapping[int, Sequence[int]]) -> dict[int, str]:
    """How postings spell each term mostly, given some that hold it."""
    return {number: best_spelling(spellings) for number, (_, spellings) in _found(holding).items()}


def _found(holding: Mapping[int, Sequence[int]]) -> dict[int, tuple[str, Counter[str]]]:
    wanted: dict[int, set[int]] = defaultdict(set)
    for number, posting_ids in holding.items():
        for posting_id in posting_ids:
            wanted[posting_id].add(number)
    found: dict[int, tuple[str, Counter[str]]] = {}
    read = texts(wanted)
    for posting_id in sorted(read):
        for term in read[posting_id].terms():
            if (number := term.number) in wanted[posting_id]:
                found.setdefault(number, (term.key, Counter()))[1][term.spelling] += 1
    return found
