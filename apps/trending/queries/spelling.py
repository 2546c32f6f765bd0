"""Keys and spellings of terms, taken from postings with these terms, since there is no dictionary."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from apps.trending.queries.texts import texts


def keys_of(holding: Mapping[int, Sequence[int]]) -> dict[int, str]:
    """The key of each term, given some postings with it; terms that no longer occur in them are left out."""
    return {number: key for number, (key, _) in _found(holding).items()}


def spellings_of(holding: Mapping[int, Sequence[int]]) -> dict[int, str]:
    """The most frequent spelling of each term, given some postings with it."""
    return {number: best_spelling(spellings) for number, (_, spellings) in _found(holding).items()}


def best_spelling(spellings: Counter[str]) -> str:
    """The most frequent spelling; of equal ones, one that is not all capitals, then the alphabetically first.

    >>> best_spelling(Counter({"WORLD CUP": 2, "World Cup": 2, "world cup": 1}))
    'World Cup'
    """
    spelling = min(spellings, key=lambda each: (-spellings[each], each.isupper() and len(each) > 5, each))
    return " ".join(spelling.split())


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
