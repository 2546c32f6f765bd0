"""Terms, their numbers, and how many documents hold them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.database.statements import fetch
from apps.search.algorithms.index.remembering import OVERHEAD, Remembered
from apps.search.algorithms.models.index import UNKNOWN

MEGABYTE = 2**20  # bytes
MOST_COMPLETIONS = 500  # terms with the same beginning that are looked for

_TERMS = """
SELECT id, term, (document_frequency
    - coalesce((SELECT sum(documents) FROM search_loss WHERE term_id = search_term.id), 0))::int
FROM search_term
"""


_Known = tuple[int, str, int]  # number, term, sealed documents that hold it
_by_term = Remembered[tuple[int, int, str], _Known](8 * MEGABYTE, lambda known: OVERHEAD)
_by_number = Remembered[tuple[int, int, int], _Known](8 * MEGABYTE, lambda known: OVERHEAD)


class Terms:
    """What was looked up at one instant, each term once: a search asks for the same ones several times."""

    def __init__(self, head: int, revision: int) -> None:
        self._instant = (head, revision)
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._sealed: dict[int, int] = {}

    def numbers(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """The number of each term, UNKNOWN where it has none."""
        if missing := {term for term in terms if term not in self._numbers}:
            remembered = _by_term.among([(*self._instant, term) for term in missing])
            self._keep(remembered.values())
            if unread := sorted(missing.difference(self._numbers)):
                self._keep(self._read("term", unread))
                self._numbers.update(dict.fromkeys(missing.difference(self._numbers), UNKNOWN))
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
            remembered = _by_number.among([(*self._instant, number) for number in missing])
            self._keep(remembered.values())
            if unread := sorted(missing.difference(self._names)):
                self._keep(self._read("id", unread))

    def _read(self, column: str, values: Sequence[str] | Sequence[int]) -> list[_Known]:
        found: list[Any] = fetch(f"{_TERMS} WHERE {column} = ANY(%s)", [values])
        _by_term.keep({(*self._instant, known[1]): known for known in found})
        _by_number.keep({(*self._instant, known[0]): known for known in found})
        return found

    def _keep(self, rows: Iterable[_Known]) -> None:
        for number, term, documents in rows:
            self._numbers[term] = number
            self._names[number] = term
            self._sealed[number] = documents


def forget() -> None:
    """Remember nothing any more."""
    _by_term.forget()
    _by_number.forget()


def numbers(terms: Sequence[str]) -> NDArray[np.int64]:
    """The number of each term as of now, UNKNOWN where it has none."""
    known = dict(fetch("SELECT term, id FROM search_term WHERE term = ANY(%s)", [sorted(set(terms))]))
    return np.array([known.get(term, UNKNOWN) for term in terms], np.int64)


def beginning_with(beginning: str) -> list[int]:
    """Numbers of terms that begin so, a few hundred at most, the commonest first."""
    rows = fetch(
        "SELECT id FROM search_term WHERE term >= %s AND term < %s ORDER BY document_frequency DESC, id LIMIT %s",
        [beginning, beginning + "\U0010ffff", MOST_COMPLETIONS],
    )
    return [number for (number,) in rows]
