"""How many postings hold a term, as far as that can be told from how many hold each word."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from apps.alerts.algorithms.percolator.documents import LANGUAGE, SOURCE, TITLE
from apps.postings.algorithms.words import STOP_MARK

EVERYWHERE = 1e12  # more than there are postings
STOP_WORD = 1e9  # unless it is known better
TOGETHER = 20.0  # of so many postings that hold the rarer of two words, one has them as neighbours
IN_TITLE = 5.0  # of so many that hold a word, one has it in its title
OF_A_SOURCE = 1_000.0  # postings: sources go on, words come and go


@dataclass(frozen=True, slots=True)
class Rarity:
    """Of terms as `reading` makes them.

    >>> rarity = Rarity({"new": 900, "york": 40})
    >>> rarity.documents("york"), rarity.documents("new york"), rarity.documents("title:new"), rarity.documents("oslo")
    (40, 2.0, 180.0, 0)
    """

    known: Mapping[str, int]  # documents that hold a word, of the words that the index knows

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
    """What the index should be asked for to tell how rare terms are.

    >>> sorted(words_of(["new york", "title:vote", "category:world"]))
    ['category:world', 'new', 'vote', 'york']
    """
    return {word for term in terms for word in term.removeprefix(TITLE).split(" ")}
