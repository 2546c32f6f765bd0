"""A search as its address contains it, so that it can be saved and shared."""

from typing import Any, Literal, NamedTuple, Self, get_args
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext

from apps.database.sanitizing import sanitize
from apps.search.algorithms.language import BadQuery
from apps.search.queries import Order
from apps.web.algorithms.numbers import whole_number

Verdict = Literal["liked", "disliked", ""]

ORDERS: tuple[Order, ...] = get_args(Order)
MAX_JUDGED = 20  # postings that count as liked, and likewise as disliked: the latest
MAX_REMOVED = 50  # words
MAX_WORD_LENGTH = 100  # characters
MAX_CURSOR_LENGTH = 200  # characters


class SearchQuery(NamedTuple):
    text: str = ""
    order: Order | None = None  # None: chosen by the query
    expansion: bool = True
    removed: tuple[str, ...] = ()  # terms that are not added
    liked: tuple[int, ...] = ()
    disliked: tuple[int, ...] = ()
    start: str = ""  # cursor at the end of the previous page
    all_terms: bool = False  # show all related terms, not only the heaviest

    @classmethod
    def read(cls, given: QueryDict) -> Self:
        """Parse an address; invalid values are ignored.

        >>> SearchQuery.read(QueryDict("q=paris&order=newest&like=7&like=x&unlike=7&without=hilton"))
        SearchQuery(text='paris', order='newest', expansion=True, removed=('hilton',), liked=(7,), disliked=(),
                start='', all_terms=False)
        """
        liked = _ids(given.getlist("like"))
        removed = dict.fromkeys(sanitize(term) for term in given.getlist("without"))
        return cls(
            text=sanitize(given.get("q", "")),
            order=next((order for order in ORDERS if order == given.get("order")), None),
            expansion=given.get("words") != "mine",
            removed=tuple(term for term in removed if 0 < len(term) <= MAX_WORD_LENGTH)[-MAX_REMOVED:],
            liked=liked,
            disliked=tuple(posting_id for posting_id in _ids(given.getlist("unlike")) if posting_id not in liked),
            start=sanitize(given.get("start", ""))[:MAX_CURSOR_LENGTH],
            all_terms="terms" in given,
        )

    def address(self) -> str:
        """The query string that `read` parses.

        >>> SearchQuery("new york", removed=("hotel",)).address()
        '?q=new+york&without=hotel'
        """
        values: list[tuple[str, str | int]] = [("q", self.text)] if self.text else []
        if self.order:
            values.append(("order", self.order))
        if not self.expansion:
            values.append(("words", "mine"))
        values += [("without", term) for term in self.removed]
        values += [("like", posting_id) for posting_id in self.liked]
        values += [("unlike", posting_id) for posting_id in self.disliked]
        values += [("start", self.start)] * bool(self.start) + [("terms", "all")] * self.all_terms
        return "?" + urlencode(values)

    def changed(self, *, start: str = "", **values: Any) -> Self:
        """With other values, from the beginning of the results unless `start` is given."""
        return self._replace(start=start, **values)

    def with_term_removed(self, term: str) -> Self:
        return self.changed(removed=(*self.removed, term)[-MAX_REMOVED:])

    def with_term_restored(self, term: str) -> Self:
        return self.changed(removed=tuple(other for other in self.removed if other != term))

    def verdict(self, posting_id: int) -> Verdict:
        if posting_id in self.liked:
            return "liked"
        return "disliked" if posting_id in self.disliked else ""

    def with_feedback(self, posting_id: int, verdict: Verdict) -> Self:
        """With this verdict on a posting instead of any former one."""
        liked = tuple(other for other in self.liked if other != posting_id)
        disliked = tuple(other for other in self.disliked if other != posting_id)
        if verdict == "liked":
            liked = (*liked, posting_id)[-MAX_JUDGED:]
        elif verdict == "disliked":
            disliked = (*disliked, posting_id)[-MAX_JUDGED:]
        return self.changed(liked=liked, disliked=disliked)


class Complaint(NamedTuple):
    """A query that cannot be parsed, split at the piece that is wrong."""

    message: str
    before: str
    piece: str
    after: str


def complaint(text: str, error: BadQuery) -> Complaint:
    """
    >>> complaint("a (b", BadQuery("It is not closed.", 2, "("))
    Complaint(message='It is not closed.', before='a ', piece='(', after='b')
    """
    behind = error.at + len(error.piece)
    return Complaint(explain(error), text[: error.at], error.piece, text[behind:])


def explain(error: BadQuery) -> str:
    return gettext(error.sentence).format(**error.values)


def _ids(values: list[str]) -> tuple[int, ...]:
    numbers = (number for value in values if (number := whole_number(value)) is not None)
    return tuple(dict.fromkeys(numbers))[-MAX_JUDGED:]
