"""Terms to ignore in a source: its own name, and matches of its stop expression."""

from collections.abc import Callable
from functools import lru_cache

from apps.postings.algorithms.words import analyse
from apps.sources.formats.expressions import BadExpression, regex
from apps.trending.algorithms.terms import Term


@lru_cache(4_096)
def unwanted_of(name: str, stop_regex: str, language: str) -> Callable[[Term], bool]:
    """A predicate for the terms of a source to ignore: words of its name, and spellings its expression matches.

    An expression that RE2 does not support matches nothing.

    >>> unwanted = unwanted_of("Daily Planet", r"(?i)horoscope$", "en")
    >>> [unwanted(term) for term in (Term("planet", 0, "Planet"), Term("planet mar", 1, "planet Mars"))]
    [True, False]
    >>> unwanted(Term("your horoscop", 1, "Your Horoscope"))
    True
    """
    own = set(analyse(name, language).content)
    try:
        stopped = regex(stop_regex) if stop_regex else None
    except BadExpression:
        stopped = None

    def unwanted(term: Term) -> bool:
        return own.issuperset(term.key.split(" ")) or (
            stopped is not None and stopped.search(term.spelling) is not None
        )

    return unwanted
