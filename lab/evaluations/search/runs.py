"""Runs the queries of test collections with every model in the real index."""

import html
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.postings import actions as postings
from apps.postings.algorithms.words import analyse, language_of
from apps.postings.models import Posting
from apps.search import actions
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import Ranking
from apps.search.algorithms.models.recipe import OURS, WITHOUT_FEEDBACK, Recipe, search
from apps.search.queries import Snapshot, snapshot
from apps.search.rankings import Model, all_models, prepared
from apps.sources.actions.curating import delete_sources
from apps.sources.actions.editing import add_source
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from lab.evaluations.search.collections import Collection, Document
from lab.evaluations.search.scoring import RETRIEVED, Scores, mean, score
from lab.worlds.index import empty, posting_ids

MODELS = {
    "vsm": "VSM",
    "vsm_qe": "VSM+QE",
    "vsm_tr": "VSM+TR",
    "vsm_qe_tr": "VSM+QE+TR",
    "bm25": "BM25",
    "rm3": "BM25+RM3",
    "flat": "flat",  # ours, with words of titles counting as those of the text
    "plain": "plain",  # ours without feedback
    "ours": "ours",
}

ADDRESS = "https://collection.example"
PUBLISHED = datetime(2000, 1, 1, tzinfo=UTC)  # collections know no time: nothing is fresher than anything
STORED_AT_ONCE = 500
LANGUAGE_SAMPLE = 200  # documents from which the language of a collection is detected

Rank = Callable[[Query], Ranking]
Watch = Callable[[Sequence[str], str], Iterable[str]]  # puts a progress bar around queries


@dataclass(frozen=True)
class Evaluation:
    """The scores of all models on a collection."""

    documents: int  # that can be found
    by_query: Mapping[str, Sequence[Scores]]  # by model, in the order of the collection's queries
    scores: Mapping[str, Scores]  # by model
    added: Sequence[int]  # terms that ours added, by query


def evaluate(collection: Collection, watch: Watch) -> Evaluation:
    """Index a collection, run every query with every model, and remove it again.

    The documents are stored as postings of a source that declares their language, and indexed like all postings; for
    the models of others without titles, whose words are then words of the text. The database must not have others.
    """
    language = language_of_documents(collection.documents)
    queries = {
        query: Query.of(analyse(text, language_of(text, language))) for query, text in collection.queries.items()
    }
    by_query: dict[str, list[Scores]] = {}

    def run(index: Snapshot, identities: Mapping[int, str], models: Mapping[str, Rank]) -> None:
        for model, rank in models.items():
            by_query[model] = []
            for query in watch(list(queries), MODELS[model]):
                ranking = [identities[number] for number in rank(queries[query]).documents.tolist()]
                by_query[model].append(score(ranking, collection.judgements[query]))

    untitled = [Document(one.identity, "", f"{one.title}\n{one.text}") for one in collection.documents]
    with stored(untitled, language), snapshot() as index:
        identities = _identities(index)
        run(index, identities, _others(index, np.array(sorted(identities), np.int64)))
    with stored(collection.documents, language), snapshot() as index:
        run(index, _identities(index), {"plain": _ours(index, WITHOUT_FEEDBACK), "ours": _ours(index)})
        added = [len(search(index, query, RETRIEVED).expansion.added(query.terms)) for query in queries.values()]
        return Evaluation(index.documents, by_query, {model: mean(by_query[model]) for model in by_query}, added)


def language_of_documents(documents: Sequence[Document]) -> str:
    """The language of most documents, as a feed of them would declare it."""
    languages = Counter(language_of(f"{document.title}\n{document.text}") for document in documents[:LANGUAGE_SAMPLE])
    return languages.most_common(1)[0][0]


@contextmanager
def stored(documents: Sequence[Document], language: str) -> Iterator[None]:
    """Store the documents as indexed postings until the end of the block."""
    source = add_source(Source(url=f"{ADDRESS}/feed", language=language))
    try:
        for start in range(0, len(documents), STORED_AT_ONCE):
            entries = [_entry(document) for document in documents[start : start + STORED_AT_ONCE]]
            postings.store([postings.Document(source, entries, ADDRESS, ADDRESS, language, datetime.now(UTC))])
        fill_index()
        yield
    finally:
        delete_sources([source])
        empty()  # with the deletions that wait there


def _entry(document: Document) -> ParsedEntry:
    # Distinct links, since some collections have several documents with the same words.
    return ParsedEntry(
        guid=document.identity,
        link=f"{ADDRESS}/{document.identity.encode().hex()}",
        title=document.title,
        content=f"<p>{html.escape(document.text)}</p>",
        published=PUBLISHED,
    )


def fill_index() -> None:
    while actions.reindexing.consume():
        pass
    actions.segment_building.maintain(at_least=1)


def _identities(index: Snapshot) -> dict[int, str]:
    """The collection's name of each document of the index."""
    guids = dict(Posting.objects.values_list("pk", "guid"))
    numbers = index.documents_of(guids)
    return {int(number): guids[posting] for number, posting in zip(numbers, posting_ids(numbers), strict=True)}


def _others(index: Snapshot, documents: NDArray[np.int64]) -> dict[str, Rank]:
    memory = prepared(index.vectors, documents)
    others = {name: _of(index, model, memory[model.prepare]) for name, model in all_models().items() if name in MODELS}
    return others | {"flat": others.pop("ours")}


def _of(index: Snapshot, model: Model, memory: Any) -> Rank:
    return lambda query: model.answer(index, memory, query, RETRIEVED)[0]


def _ours(index: Snapshot, recipe: Recipe = OURS) -> Rank:
    return lambda query: search(index, query, RETRIEVED, recipe=recipe).ranking
