"""Terms, their numbers, and how many documents hold them."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.index import UNKNOWN
from apps.search.queries.database import fetch

MOST_COMPLETIONS = 500  # terms with the same beginning that are looked for

_TERMS = """
SELECT id, term, (document_frequency
    - coalesce((SELECT sum(documents) FROM search_loss WHERE term_id = search_term.id), 0))::int
FROM search_term
"""


class Terms:
    """What was looked up at one instant, each term once: a search asks for the same ones several times."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._sealed: dict[int, int] = {}

    def numbers(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """The number of each term, UNKNOWN where it has none."""
        if missing := {term for term in terms if term not in self._numbers}:
            self._numbers.update(dict.fromkeys(missing, UNKNOWN))
            self._keep(fetch(f"{_TERMS} WHERE term = ANY(%s)", [sorted(missing)]))
        return np.array([self._numbers[term] for term in terms], np.int64)

    def names(self, numbers: NDArray[np.integer]) -> list[str]:
        """The term of each number, which must be known."""
        self._look_up(numbers.tolist())
        return [self._names[number] for number in numbers.tolist()]

    def sealed_frequencies(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """How many sealed documents hold each term, those that died left out."""
        self._look_up(numbers.tolist())
        return np.array([self._sealed.get(number, 0) for number in numbers.tolist()], np.int64)

    def _look_up(self, numbers: Collection[int]) -> None:
        if missing := {number for number in numbers if number not in self._names and number != UNKNOWN}:
            self._keep(fetch(f"{_TERMS} WHERE id = ANY(%s)", [sorted(missing)]))

    def _keep(self, rows: Iterable[tuple[int, str, int]]) -> None:
        for number, term, documents in rows:
            self._numbers[term] = number
            self._names[number] = term
            self._sealed[number] = documents


def numbers(terms: Sequence[str]) -> NDArray[np.int64]:
    """The number of each term as of now, UNKNOWN where it has none."""
    return Terms().numbers(terms)


def beginning_with(beginning: str) -> list[int]:
    """Numbers of terms that begin so, a few hundred at most, the commonest first."""
    rows = fetch(
        "SELECT id FROM search_term WHERE term >= %s AND term < %s ORDER BY document_frequency DESC, id LIMIT %s",
        [beginning, beginning + "\U0010ffff", MOST_COMPLETIONS],
    )
    return [number for (number,) in rows]
