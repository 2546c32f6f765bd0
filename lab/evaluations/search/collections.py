"""Test collections: documents, queries, and which documents people judged to answer which query."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

DOCUMENTS, QUERIES, JUDGEMENTS = "docs.jsonl", "queries.tsv", "qrels.txt"
SHOWN = 80  # characters of a line that cannot be read

Item = TypeVar("Item")


class BadCollection(ValueError):
    """An invalid collection; names file and line."""


@dataclass(frozen=True)
class Document:
    """A text of a collection."""

    identity: str
    title: str
    text: str  # without the title, even where the file begins it with that


@dataclass(frozen=True)
class Collection:
    """Texts, and questions with known answers."""

    documents: tuple[Document, ...]
    queries: Mapping[str, str]  # those with an answer
    judgements: Mapping[str, Mapping[str, int]]  # grade by document, by query; 1 and more is relevant


def read_collection(documents: Iterable[bytes], queries: Iterable[bytes], judgements: Iterable[bytes]) -> Collection:
    """A collection from the lines of its three files, in UTF-8.

    Queries without judgements or relevant documents are left out, as trec_eval does; so are judgements of unknown
    queries. A judged document that does not exist counts as not found.

    Parameters
    ----------
    documents : iterable of bytes
        Of docs.jsonl: objects with `_id`, `text` and, where there is one, `title`.
    queries : iterable of bytes
        Of queries.tsv: identity, tab, question.
    judgements : iterable of bytes
        Of qrels.txt, as TREC has it: query, anything, document, grade.

    Raises
    ------
    BadCollection
        At the first line that is not like this or names something for the second time, and if no query has an answer.

    Examples
    --------
    >>> lines = [b'{"_id": "a", "title": "Sun", "text": "Sun rises."}']
    >>> collection = read_collection(lines, [b"1\\tsun", b"2\\tmoon"], [b"1 0 a 1"])
    >>> collection.documents[0].text, collection.queries, collection.judgements
    ('rises.', {'1': 'sun'}, {'1': {'a': 1}})
    """
    texts = _read(DOCUMENTS, documents, _document, lambda document: document.identity)
    questions = dict(_read(QUERIES, queries, _query, lambda query: query[0]))
    grades: dict[str, dict[str, int]] = {}
    for query, document, grade in _read(JUDGEMENTS, judgements, _judgement, lambda judgement: judgement[:2]):
        grades.setdefault(query, {})[document] = grade
    answered = [query for query in questions if any(grade >= 1 for grade in grades.get(query, {}).values())]
    if not texts:
        raise BadCollection(f"{DOCUMENTS} holds no document")
    if not answered:
        raise BadCollection(f"no query of {QUERIES} has a relevant document in {JUDGEMENTS}")
    return Collection(
        tuple(texts), {query: questions[query] for query in answered}, {query: grades[query] for query in answered}
    )


def read_headlines(name: str, lines: Iterable[bytes]) -> Collection:
    """A collection of stories, in which each headline is the query for its story, which lacks the headline.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    lines : iterable of bytes
        Objects with `id`, `headLine`, `newsBeginning` and `newsRemainder`.

    Raises
    ------
    BadCollection
        At the first line that is not like this.

    Examples
    --------
    >>> line = '{"id": "a", "headLine": "日出", "newsBeginning": "太阳", "newsRemainder": "升起。"}'.encode()
    >>> collection = read_headlines("stories.jsonl", [line])
    >>> collection.queries, collection.documents[0].title, collection.documents[0].text
    ({'a': '日出'}, '', '太阳升起。')
    """
    stories = _read(name, lines, _story, lambda story: story[1].identity)
    if not stories:
        raise BadCollection(f"{name} holds no story")
    return Collection(
        tuple(story for _, story in stories),
        {story.identity: headline for headline, story in stories},
        {story.identity: {story.identity: 1} for _, story in stories},
    )


def unknown_documents(collection: Collection) -> int:
    """How many relevant documents are named by judgements and are not there."""
    known = {document.identity for document in collection.documents}
    relevant = {
        document for grades in collection.judgements.values() for document, grade in grades.items() if grade >= 1
    }
    return len(relevant - known)


def _read(name: str, lines: Iterable[bytes], read: Callable[[str], Item], key: Callable[[Item], object]) -> list[Item]:
    found: list[Item] = []
    places: dict[object, int] = {}
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        try:
            item = read(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            shown = raw.decode(errors="replace").strip()[:SHOWN]
            raise BadCollection(f"{name}, line {number}, is not {_EXPECTED[read]}: {shown!r}") from error
        earlier = places.setdefault(key(item), number)
        if earlier != number:
            raise BadCollection(f"{name}, line {number}, names the same as line {earlier}: {key(item)!r}")
        found.append(item)
    return found


def _document(line: str) -> Document:
    entry = json.loads(line)
    title, text = _sanitized(entry.get("title") or ""), _sanitized(entry["text"])
    return Document(_sanitized(str(entry["_id"])), title, text.removeprefix(title).strip())


def _query(line: str) -> tuple[str, str]:
    identity, question = line.split("\t", 1)
    return identity.strip(), question.strip()


def _judgement(line: str) -> tuple[str, str, int]:
    query, _, document, grade = line.split()
    return query, document, int(grade)


def _story(line: str) -> tuple[str, Document]:
    entry = json.loads(line)
    body = entry["newsBeginning"] + entry["newsRemainder"]
    return _sanitized(entry["headLine"]), Document(_sanitized(str(entry["id"])), "", _sanitized(body))


def _sanitized(text: str) -> str:
    """Remove NUL, which Postgres cannot store; an unpaired surrogate is an error."""
    text.encode()
    return text.replace("\0", " ").strip()


_EXPECTED: Mapping[Callable[[str], object], str] = {
    _document: "an object with _id and text, perhaps with a title",
    _query: "a name, a tab and a question",
    _judgement: "a query, anything, a document and a whole number",
    _story: "an object with id, headLine, newsBeginning and newsRemainder",
}
