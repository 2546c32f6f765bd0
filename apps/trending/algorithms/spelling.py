"""Which of several spellings of a term is shown."""

from collections import Counter


def best_spelling(spellings: Counter[str]) -> str:
    """The most frequent one; of equally frequent ones, one that is not all capitals, then the first in the alphabet.

    >>> best_spelling(Counter({"WORLD CUP": 2, "World Cup": 2, "world cup": 1}))
    'World Cup'
    """
    spelling = min(spellings, key=lambda each: (-spellings[each], each.isupper() and len(each) > 5, each))
    return " ".join(spelling.split())
