"""Consistency of the index with itself and with the postings."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.database.statements import MAX_ID, fetch, fetch_rows
from apps.postings.algorithms.times import microseconds
from apps.search.actions.reindexing import UNSEEN
from apps.search.algorithms.index.inversion import invert, packed_impacts, unpack_flags, unpack_row
from apps.search.algorithms.models.bm25 import IMPACT_VERSION
from apps.search.queries.snapshot import consistent_snapshot
from apps.search.queries.stored import document

MAX_NAMED = 5  # examples in a sentence


@dataclass
class Check:
    """Counts of what was checked, and a sentence for each fault."""

    documents: int = 0
    generations: int = 0
    postings: int = 0  # of terms in documents
    faults: list[str] = field(default_factory=list)
    _frequencies: dict[int, int] = field(default_factory=dict)  # of terms, in segments


def check(found: Check) -> Iterator[None]:
    """Check a snapshot of the index, in as many steps as `steps` returns."""
    with consistent_snapshot("SELECT set_config('statement_timeout', '0', true)"):
        generations = fetch_rows("SELECT id, first, size FROM search_generation ORDER BY first")
        _check_order(found, generations)
        _check_versions(found)
        for generation in generations:
            _check_generation(found, generation.id, generation.first, generation.size)
            yield
        _check_frequencies(found)
        _check_tail(found, generations[-1].first + generations[-1].size if generations else 0)
        _check_postings(found)
    yield


def steps() -> int:
    [(generations,)] = fetch("SELECT count(*) FROM search_generation")
    return int(generations) + 1


def _check_order(found: Check, generations: list[Any]) -> None:
    found.generations = len(generations)
    for former, latter in pairwise(generations):
        if latter.first < former.first + former.size:
            found.faults.append(
                f"Generations {former.id} and {latter.id} share documents from number {latter.first} on."
            )
    [(strays,)] = fetch(
        "SELECT count(*) FROM search_row WHERE NOT EXISTS"
        " (SELECT FROM search_generation generation WHERE generation.id = generation_id)"
    )
    if strays:
        found.faults.append(f"{strays:,} rows of postings belong to no generation.")


def _check_versions(found: Check) -> None:
    versions = fetch(
        "SELECT impact_version, array_agg(id ORDER BY id) FROM search_generation WHERE impact_version <> %s"
        " GROUP BY 1 ORDER BY 1",
        [IMPACT_VERSION],
    )
    for version, generations in versions:
        found.faults.append(
            f"Generations {_some(generations)} have impacts of {version} instead of {IMPACT_VERSION}:"
            " maintenance rebuilds them."
        )


def _check_generation(found: Check, generation: int, first: int, size: int) -> None:
    [kept] = fetch_rows(
        "SELECT average_length, tokens, dead_count, dead, posting_ids, source_ids, published, languages"
        " FROM search_generation WHERE id = %s",
        [generation],
    )
    rows = fetch_rows(
        "SELECT number, posting_id, source_id, published_at, language, title_length, sequence, pairs, names"
        " FROM search_document WHERE number >= %s AND number < %s",
        [first, first + size],
    )
    alive = np.zeros(size, np.bool_)
    alive[[row.number - first for row in rows]] = True
    kinds = ((kept.posting_ids, "<i8"), (kept.source_ids, "<i4"), (kept.published, "<i8"))
    columns = [np.frombuffer(data, kind) for data, kind in kinds]
    codes = np.frombuffer(kept.languages, "S3")
    wrong = [
        row.number
        for row in rows
        if [column[row.number - first] for column in columns]
        != [row.posting_id, row.source_id, microseconds(row.published_at)]
        or codes[row.number - first].decode() != row.language
    ]
    _note(found, generation, "says of other postings, sources, times or languages than their own in documents", wrong)
    differing = np.flatnonzero(~unpack_flags(kept.dead, size) != alive) + first
    _note(found, generation, "is wrong on whether they are dead of documents", differing.tolist())
    documents = {row.number: document(row) for row in rows}
    inverted = invert([documents.get(number) for number in range(first, first + size)])
    if kept.tokens != inverted.lengths.sum() or kept.dead_count != size - alive.sum():
        found.faults.append(
            f"Generation {generation} counts {kept.tokens:,} tokens and {kept.dead_count:,} dead documents instead of"
            f" {inverted.lengths.sum():,} and {size - alive.sum():,}."
        )
    terms = np.repeat(inverted.terms, np.diff(inverted.bounds))
    expected = np.array([terms, inverted.documents, packed_impacts(inverted, kept.average_length)])
    present = _kept(found, generation, alive)
    if not np.array_equal(expected, present):
        both = {tuple(posting) for posting in expected.T.tolist()} ^ {tuple(posting) for posting in present.T.tolist()}
        _note(found, generation, "has other postings than its documents for terms", sorted({term for term, *_ in both}))
    for term, holding in zip(inverted.terms.tolist(), np.diff(inverted.bounds).tolist(), strict=True):
        found._frequencies[term] = found._frequencies.get(term, 0) + holding
    found.documents += len(rows)
    found.postings += inverted.documents.size


def _kept(found: Check, generation: int, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Term, offset and impact of each posting of live documents in the rows of a generation."""
    rows = fetch_rows(
        "SELECT term_id, largest, postings FROM search_row WHERE generation_id = %s ORDER BY term_id", [generation]
    )
    unpacked = [unpack_row(row.postings, row.largest) for row in rows]
    wrong = [
        row.term_id
        for row, postings in zip(rows, unpacked, strict=True)
        if postings.impacts.max(initial=0) != row.largest
    ]
    _note(found, generation, "has other largest impacts than its postings for terms", wrong)
    if not unpacked:
        return np.empty((3, 0), np.int64)
    terms = np.repeat([row.term_id for row in rows], [postings.documents.size for postings in unpacked])
    offsets = np.concatenate([postings.documents for postings in unpacked])
    impacts = np.concatenate([postings.impacts for postings in unpacked])
    outside = offsets >= alive.size
    _note(found, generation, "has postings outside of it for terms", np.unique(terms[outside]).tolist())
    inside = ~outside & alive[np.minimum(offsets, alive.size - 1)]
    return np.array([terms, offsets, impacts], np.int64)[:, inside]


def _check_frequencies(found: Check) -> None:
    counts = fetch(
        "SELECT term.id, document_frequency - coalesce(lost.documents, 0)::int AS count FROM search_term term LEFT JOIN"
        " (SELECT term_id, sum(documents) documents FROM search_loss GROUP BY 1) lost ON lost.term_id = term.id"
    )
    wrong = [term for term, count in counts if found._frequencies.get(term, 0) != count]
    unknown = found._frequencies.keys() - {term for term, _ in counts}
    if wrong:
        found.faults.append(f"{len(wrong):,} terms are counted wrong: {_some(wrong)}.")
    if unknown:
        found.faults.append(f"{len(unknown):,} terms of postings have no name: {_some(sorted(unknown))}.")


def _check_tail(found: Check, first: int) -> None:
    rows = fetch("SELECT number, dead FROM search_document WHERE number >= %s ORDER BY number", [first])
    numbers = [number for number, _ in rows]
    if numbers and numbers != list(range(numbers[0], numbers[-1] + 1)):
        found.faults.append(f"Documents between number {numbers[0]} and {numbers[-1]} are missing.")
    heads = fetch_rows("SELECT next_document FROM search_head")
    end = numbers[-1] + 1 if numbers else first
    if len(heads) > 1 or (end and (not heads or heads[0].next_document < end)):
        found.faults.append(f"The next document's number would be one that was given, {end - 1} or smaller.")
    found.documents += sum(not dead for _, dead in rows)


def _check_postings(found: Check) -> None:
    rows = fetch(
        f"SELECT coalesce(posting.id, document.posting_id) {UNSEEN} AND NOT EXISTS"
        " (SELECT FROM search_outboxrow change WHERE change.posting_id = coalesce(posting.id, document.posting_id))",
        {"after": 0, "until": MAX_ID},
    )
    if rows:
        named = _some([posting_id for (posting_id,) in rows])
        found.faults.append(f"{len(rows):,} postings are not as search knows them, and nothing says so: {named}.")


def _note(found: Check, generation: int, what: str, which: list[int]) -> None:
    if which:
        found.faults.append(f"Generation {generation} {what} {_some(which)}.")


def _some(numbers: list[int]) -> str:
    more = f" and {len(numbers) - MAX_NAMED:,} more" if len(numbers) > MAX_NAMED else ""
    return ", ".join(str(number) for number in numbers[:MAX_NAMED]) + more
