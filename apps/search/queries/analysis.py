"""Analysis of queries in the languages of the index."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from apps.postings.algorithms.words import STOP_MARK, analyse, language_of
from apps.search.algorithms.index.caching import Cache
from apps.search.algorithms.language import Filter, Or, Tree, wanted
from apps.search.algorithms.language.trees import parts_of
from apps.search.algorithms.models.index import UNKNOWN
from apps.search.algorithms.models.query import Query
from apps.search.queries.snapshot import Snapshot
from apps.search.queries.stored import READ_AT_ONCE, languages_of_generations

MAX_LANGUAGES = 8  # in which a query is analysed
OWN = 2  # the first languages: those that the query itself is likely in
# By head, first document and size of a part of the index. Deletions change the counts little.
_counts = Cache[tuple[int, int, int], dict[str, int]](2**20, lambda counts: 100 * len(counts))


def languages_of(index: Snapshot, tree: Tree) -> list[str]:
    """The languages to analyse a query in: those of its filter, or the detected one and the most frequent ones.

    Detection is unreliable for two words, so all frequent languages are tried; where they yield the same term, as for
    most names, that costs nothing.
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
    """Of a large index those of every n-th generation."""
    head, every = index.state.head, 1 + index.state.memory_start // READ_AT_ONCE
    generations = {(head, each.first, each.size): each.id for each in index.state.generations[::every]}
    present = {(head, each.first, each.size): each.attributes.languages for each in index.chunks}
    known = _counts.among([*generations, *present])
    read = languages_of_generations([id for key, id in generations.items() if key not in known])
    present |= {key: read[id] for key, id in generations.items() if id in read}
    for key in present.keys() - known.keys():
        codes, counts = np.unique(present[key], return_counts=True)
        known[key] = {code.decode(): count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)}
    _counts.keep(known)
    total: Counter[str] = Counter()
    for counted in known.values():
        total.update(counted)
    del total[""]
    return total


def query_of(index: Snapshot, tree: Tree, languages: Sequence[str]) -> Query:
    """The query for ranking: the known terms of each word in every language."""
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


def required_terms(tree: Tree, languages: Sequence[str]) -> list[list[str]]:
    """For each word that the query requires, its terms in all languages; the words of an OR are alternatives."""
    required: list[list[str]] = []
    for part in parts_of(tree):
        text = " ".join(each.text for each in wanted(part))
        stops = stop_places(text, languages)
        found: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        for words in (analyse(text, language) for language in languages):
            for item, place in zip(words.sequence, words.places, strict=True):
                if place not in stops and not item.startswith(STOP_MARK) and item not in found[place]:
                    found[place].append(item)
        if found:
            required += [list(chain(*found.values()))] if isinstance(part, Or) else found.values()
    return required


def stop_places(text: str, languages: Sequence[str]) -> set[tuple[int, int]]:
    """Places of stop words of the likely languages; in other languages they may be rare words."""
    found = (analyse(text, language) for language in languages[:OWN])
    return {
        place
        for words in found
        for item, place in zip(words.sequence, words.places, strict=True)
        if item.startswith(STOP_MARK)
    }
