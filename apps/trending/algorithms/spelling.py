"""The displayed spelling of a term."""

from collections import Counter


def best_spelling(spellings: Counter[str]) -> str:
    """The most frequent spelling; of equal ones, one that is not all capitals, then the alphabetically first.

    >>> best_spelling(Counter({"WORLD CUP": 2, "World Cup": 2, "world cup": 1}))
    'World Cup'
    """
    spelling = min(spellings, key=lambda each: (-spellings[each], each.isupper() and len(each) > 5, each))
    return " ".join(spelling.split())
