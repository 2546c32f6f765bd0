"""What of the postings found is shown, with what marked, and how added words are spelled."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import CharField, Value
from django.db.models.functions import Coalesce, Left, NullIf

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings.algorithms.words import analyse, language_of
from apps.search.algorithms.language import Tree, wanted
from apps.search.algorithms.snippets import Piece, marked, snippet, spellings

READ = 3_000  # characters of a text that a snippet may come from: the news stand in front


@dataclass(frozen=True, slots=True)
class Text:
    title: str
    text: str  # its beginning
    language: str

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}"


def texts(user: User | AnonymousUser, posting_ids: Collection[int]) -> dict[int, Text]:
    """Of the postings that the person may read. One query."""
    found = following.readable_by(user).filter(pk__in=posting_ids)
    declared = Coalesce(NullIf("language", Value("")), "source__language", output_field=CharField())
    values = found.annotate(beginning=Left("text", READ), declared=declared)
    return {
        row.pk: Text(row.title, row.beginning, language_of(f"{row.title}\n{row.beginning}", row.declared))
        for row in values.values_list("pk", "title", "beginning", "declared", named=True)
    }


@dataclass(frozen=True, slots=True)
class Marked:
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]

    @property
    def is_marked(self) -> bool:
        return any(piece.is_marked for piece in (*self.title, *self.snippet))


class Marker:
    """Marks what was looked for, in every language as its words are taken there.

    Added words are only marked where none of the query's are: there they are why a posting was found, elsewhere there
    would be more marks than text.
    """

    def __init__(self, tree: Tree, added: Mapping[str, float]) -> None:
        self._asked = " ".join(part.text for part in wanted(tree))
        self._added = added
        self._asked_by_language: dict[str, dict[str, float]] = {}

    def mark(self, text: Text) -> Marked:
        by_query = self._marked(text, self._terms(text.language))
        return by_query if by_query.is_marked or not self._added else self._marked(text, self._added)

    def _marked(self, text: Text, weights: Mapping[str, float]) -> Marked:
        return Marked(marked(text.title, weights, text.language), snippet(text.text, weights, text.language))

    def _terms(self, language: str) -> dict[str, float]:
        if language not in self._asked_by_language:
            self._asked_by_language[language] = dict.fromkeys(analyse(self._asked, language).terms, 1.0)
        return self._asked_by_language[language]


def spelled(terms: Collection[str], among: Iterable[Text]) -> dict[str, str]:
    """The terms as these postings write them."""
    return spellings(terms, [(text.whole, text.language) for text in among])
