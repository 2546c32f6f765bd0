"""Estimated document frequencies of terms, from those of their words."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from apps.alerts.algorithms.percolator.documents import LANGUAGE, SOURCE, TITLE
from apps.postings.algorithms.words import STOP_MARK

EVERYWHERE = 1e12  # more than there are postings
STOP_WORD = 1e9  # unless its frequency is known
TOGETHER = 20.0  # postings with the rarer of two words per posting with both as neighbours
IN_TITLE = 5.0  # postings with a word per posting with it in the title
OF_A_SOURCE = 1_000.0  # postings


@dataclass(frozen=True, slots=True)
class Rarity:
    """Of terms of `Reading`.

    >>> rarity = Rarity({"new": 900, "york": 40})
    >>> rarity.documents("york"), rarity.documents("new york"), rarity.documents("title:new"), rarity.documents("oslo")
    (40, 2.0, 180.0, 0)
    """

    known: Mapping[str, int]  # document frequencies of the words in the index

    def documents(self, term: str) -> float:
        if term.startswith(LANGUAGE):
            return EVERYWHERE
        if term.startswith(SOURCE):
            return OF_A_SOURCE
        if term.startswith(TITLE):
            return self.documents(term.removeprefix(TITLE)) / IN_TITLE
        if " " in term:
            return min(self.documents(word) for word in term.split(" ")) / TOGETHER
        return self.known.get(term, STOP_WORD if term.startswith(STOP_MARK) else 0)


def words_of(terms: Collection[str]) -> set[str]:
    """The words whose frequencies the index has to provide for these terms.

    >>> sorted(words_of(["new york", "title:vote", "category:world"]))
    ['category:world', 'new', 'vote', 'york']
    """
    return {word for term in terms for word in term.removeprefix(TITLE).split(" ")}
