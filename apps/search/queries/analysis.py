"""A query's words in the languages of the index, whose rules make terms of them."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from apps.postings.algorithms.words import STOP_MARK, analyse, language_of
from apps.search.algorithms.index.caching import Cache
from apps.search.algorithms.language import Filter, Tree, wanted
from apps.search.algorithms.language.trees import parts_of
from apps.search.algorithms.models.index import UNKNOWN
from apps.search.algorithms.models.query import Query
from apps.search.queries.snapshot import Snapshot

MAX_LANGUAGES = 8  # of an index, that a query is read in
OWN = 2  # of the languages, the first ones: those that the query itself is likely in
_NO_TERMS = np.empty(0, np.int64)
# Of head, first document and size of a block. The documents there may die, which changes little.
_counts = Cache[tuple[int, int, int], dict[str, int]](2**20, lambda counts: 100 * len(counts))


def languages_of(index: Snapshot, tree: Tree) -> list[str]:
    """The languages to read a query in: the one it asks for, or else the one it seems to be in and the commonest.

    Nobody says which language a query is in, and two words hardly tell. So all are tried that many postings are in;
    where they make the same term of a word, as most do of names, that costs nothing.
    """
    for part in parts_of(tree):
        if isinstance(part, Filter) and part.field == "lang":
            return list(part.values[:MAX_LANGUAGES])
    counts = _language_counts(index)
    common = [code for code, _ in counts.most_common(MAX_LANGUAGES)]
    seeming = language_of(" ".join(part.text for part in wanted(tree)))
    own = [seeming] if seeming in counts or not common else []
    return list(dict.fromkeys([*own, *common]))


def _language_counts(index: Snapshot) -> Counter[str]:
    blocks = {(index.state.head, block.first, block.size): block for block in index.blocks(_NO_TERMS)}
    known = _counts.among(blocks)
    for key in blocks.keys() - known.keys():
        codes, counts = np.unique(blocks[key].attributes().languages, return_counts=True)
        known[key] = {code.decode(): count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)}
    _counts.keep(known)
    total: Counter[str] = Counter()
    for counted in known.values():
        total.update(counted)
    del total[""]
    return total


def query_of(index: Snapshot, tree: Tree, languages: Sequence[str]) -> Query:
    """What ranking looks for: each word as every language has it, as far as the index knows it."""
    text = " ".join(part.text for part in wanted(tree))
    terms: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    stops = stop_places(text, languages)
    for language in languages:
        words = analyse(text, language)
        content = [
            (item, place)
            for item, place in zip(words.sequence, words.places, strict=True)
            if not item.startswith(STOP_MARK)
        ]
        kept = [item for item, place in content if place not in stops]
        left_out = Counter(item for item, place in content if place in stops)
        terms |= Counter(words.terms) - left_out
        pairs |= Counter(pairwise(kept))
    numbers = index.numbers(list(terms))
    known = {term for term, number in zip(terms, numbers.tolist(), strict=True) if number != UNKNOWN}
    return Query(
        {term: times for term, times in terms.items() if term in known},
        {pair: times for pair, times in pairs.items() if known.issuperset(pair)},
    )


def stop_places(text: str, languages: Sequence[str]) -> set[tuple[int, int]]:
    """Where the text has stop words of its likely languages; in others they may be words, and rare ones at that."""
    found = (analyse(text, language) for language in languages[:OWN])
    return {
        place
        for words in found
        for item, place in zip(words.sequence, words.places, strict=True)
        if item.startswith(STOP_MARK)
    }
