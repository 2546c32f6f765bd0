"""Snippets of results with highlights, and spellings of added words."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.database.statements import fetch_rows
from apps.following.queries.states import OWN, READABLE
from apps.postings.algorithms.words import analyse, language_of
from apps.search.algorithms.language import Tree, wanted
from apps.search.algorithms.snippets import Piece, marked, snippet, spellings
from apps.search.queries.searching import Added

READ = 3_000  # characters of a text used for snippets, since news begin with the essence


@dataclass(frozen=True, slots=True)
class Text:
    title: str
    text: str  # its beginning
    language: str

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}"


_TEXTS = f"""
SELECT posting.id, posting.title, left(posting.text, {READ}) AS beginning, document.language AS indexed,
    coalesce(nullif(posting.language, ''), source.language) AS declared
FROM postings_posting posting {OWN}
LEFT JOIN search_document document ON document.posting_id = posting.id AND NOT document.dead
WHERE posting.id = ANY(%(ids)s) AND {READABLE}
"""


def texts(user: User | AnonymousUser, posting_ids: Collection[int]) -> dict[int, Text]:
    """Texts of the readable ones of the postings. One query."""
    rows = fetch_rows(_TEXTS, {"user": user.pk or 0, "ids": list(posting_ids)}, generic=True)
    return {
        row.id: Text(
            row.title, row.beginning, row.indexed or language_of(f"{row.title}\n{row.beginning}", row.declared)
        )
        for row in rows
    }


@dataclass(frozen=True, slots=True)
class Marked:
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]

    @property
    def is_marked(self) -> bool:
        return any(piece.is_marked for piece in (*self.title, *self.snippet))


class Marker:
    """Highlights words of the query, analysed in the language of each text.

    Added words are highlighted only where none of the query's are, or there would be too many highlights.
    """

    def __init__(self, tree: Tree, added: Mapping[str, float]) -> None:
        self._query = " ".join(part.text for part in wanted(tree))
        self._added = added
        self._terms_by_language: dict[str, dict[str, float]] = {}

    def mark(self, text: Text) -> Marked:
        by_query = self._marked(text, self._terms(text.language))
        return by_query if by_query.is_marked or not self._added else self._marked(text, self._added)

    def _marked(self, text: Text, weights: Mapping[str, float]) -> Marked:
        return Marked(marked(text.title, weights, text.language), snippet(text.text, weights, text.language))

    def _terms(self, language: str) -> dict[str, float]:
        if language not in self._terms_by_language:
            self._terms_by_language[language] = dict.fromkeys(analyse(self._query, language).terms, 1.0)
        return self._terms_by_language[language]


def spelled(added: Collection[Added], read: Mapping[int, Text]) -> list[tuple[Added, str, list[int]]]:
    """Each added word, its spelling in the postings that it comes from, and those of them that were read."""
    known = [(word, [id for id in word.posting_ids if id in read]) for word in added]
    among = dict.fromkeys(read[id] for _, ids in known for id in ids)
    spelling = spellings([word.term for word in added], [(text.whole, text.language) for text in among])
    return [(word, spelling[word.term], ids) for word, ids in known]
