"""Facets of results: sources, categories, days."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.postings import queries as postings
from apps.search.algorithms.index.inversion import Attributes
from apps.search.queries.snapshot import Snapshot

MAX_VALUES = 12  # of a facet
MAX_CATEGORIES = 20  # of one posting that are counted


@dataclass(frozen=True, slots=True)
class Facets:
    """Values with their numbers of postings, the most frequent first; days from the latest on."""

    sources: tuple[tuple[int, int], ...] = ()
    categories: tuple[tuple[str, int], ...] = ()
    days: tuple[tuple[date, int], ...] = ()
    articles: Mapping[int, int] = field(default_factory=dict, compare=False)  # the first copies of those with copies


def attributes_of(index: Snapshot, documents: NDArray[np.int64]) -> Attributes:
    """Attributes of documents, in their order."""
    numbers = np.zeros((3, documents.size), np.int64)
    languages = np.zeros(documents.size, "S3")
    order = np.argsort(documents)
    ascending = documents[order]
    for block in index.blocks():
        start, end = ascending.searchsorted((block.first, block.first + block.size)).tolist()
        if start < end:
            at, known = order[start:end], block.attributes()
            offsets = documents[at] - block.first
            numbers[0, at] = known.posting_ids[offsets]
            numbers[1, at] = known.source_ids[offsets]
            numbers[2, at] = known.published[offsets]
            languages[at] = known.languages[offsets]
    return Attributes(numbers[0], numbers[1], numbers[2], languages)


def facets(found: Attributes, timezone: tzinfo | None) -> Facets:
    """Count the values. One query."""
    by_source = Counter(found.source_ids.tolist())
    days = Counter(datetime.fromtimestamp(at // 1_000_000, timezone).date() for at in found.published.tolist())
    commonest = sorted(days.items(), key=lambda item: (-item[1], -item[0].toordinal()))[:MAX_VALUES]
    columns = ("pk", "categories", "first_copy", "source__category")
    known = postings.everything().filter(pk__in=found.posting_ids.tolist())
    by_id = {row.pk: row for row in known.values_list(*columns, named=True)}
    return Facets(
        tuple(by_source.most_common(MAX_VALUES)),
        _categories([by_id[id] for id in found.posting_ids.tolist() if id in by_id]),
        tuple(sorted(commonest, reverse=True)),
        {row.pk: row.first_copy for row in by_id.values() if row.first_copy is not None},
    )


def _categories(found: Sequence[Any]) -> tuple[tuple[str, int], ...]:
    """Counts of the postings' own categories and those of their sources, regardless of case."""
    counts: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for row in found:
        names = [row.source__category, *row.categories[:MAX_CATEGORIES]]
        named = {name.casefold(): name for name in names if name.strip()}
        counts.update(list(named))
        for key, name in named.items():
            spellings.setdefault(key, Counter())[name] += 1
    return tuple((spellings[key].most_common(1)[0][0], count) for key, count in counts.most_common(MAX_VALUES))
