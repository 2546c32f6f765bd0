"""The order in which a ranking is shown: the reader's languages first, live tickers and copies apart."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from django.contrib.auth.models import AnonymousUser
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.following import queries as following
from apps.search.algorithms.index.inversion import Attributes
from apps.search.algorithms.models.index import UNKNOWN
from apps.search.algorithms.models.ranking import Ranking
from apps.search.queries.cursors import LENGTH
from apps.search.queries.snapshot import Snapshot

Places = NDArray[np.intp]  # in a ranking
Flags = NDArray[np.bool_]

FOREIGN = 0.5  # factor on the score of postings in a language of which the reader follows no feed
FIRST_PAGES = 3 * LENGTH  # results, among which titles with all words are put first and entries of tickers last
MAX_ALIKE = 3  # postings of one source with like titles, before others are put last
ALIKE_WORDS = 3  # that like titles begin with; twice as many characters in scripts without spaces
_FIRST_COPIES = "SELECT id, first_copy FROM postings_posting WHERE id = ANY(%s) AND first_copy IS NOT NULL"


def titled(index: Snapshot, found: Ranking, required: Sequence[Sequence[str]]) -> Flags:
    """Which results of the first pages have all words of the query in their titles.

    `required` has each word's terms, as alternatives.
    """
    words = [set(index.numbers(terms).tolist()) - {UNKNOWN} for terms in required]
    titles = [document.title.tolist() for document in index.read(found.documents[:FIRST_PAGES])]
    flags = np.zeros(len(found), np.bool_)
    flags[: len(titles)] = [bool(words) and not any(word.isdisjoint(title) for word in words) for title in titles]
    return flags


def own_languages_first(user: User | AnonymousUser, found: Ranking, known: Attributes, first: Flags | bool) -> Places:
    """Places of a ranking, those of postings in languages that the user does not follow with a lower score.

    Of the others, those that are to be `first` are before the rest.
    """
    own = [code.encode() for code in following.followed_languages(user)]
    is_own = np.isin(known.languages, [*own, b""]) if own else np.ones(len(found), np.bool_)
    scores = found.scores * np.where(is_own, 1.0, FOREIGN) + found.scores.max(initial=0.0) * (is_own & first)
    return np.argsort(-scores, kind="stable")


def tickers_last(index: Snapshot, found: Ranking, known: Attributes, places: Places) -> Places:
    """The places, those of further entries of live tickers and the like behind the first pages.

    Such entries are postings of one source whose titles begin alike or share half of their words.
    """
    shown: defaultdict[int, list[list[int]]] = defaultdict(list)
    late = np.zeros(places.size, np.bool_)
    sources = known.source_ids[places].tolist()
    for number, document in enumerate(index.read(found.documents[places[:FIRST_PAGES]])):
        title, of_source = document.title.tolist(), shown[sources[number]]
        words = ALIKE_WORDS * 2 if document.pairs.size else ALIKE_WORDS
        late[number] = sum(_is_alike(title, other, words) for other in of_source) >= MAX_ALIKE
        of_source.append(title)
    return np.concatenate([places[:FIRST_PAGES][~late[:FIRST_PAGES]], places[late], places[FIRST_PAGES:]])


def _is_alike(title: list[int], other: list[int], words: int) -> bool:
    if not title or not other:
        return False
    shared = len(set(title).intersection(other))
    return shared * 2 >= max(len(title), len(other)) or title[:words] == other[:words]


def first_of_each(known: Attributes, places: Places) -> Places:
    """Of the places, those of the best posting of each article, in order. One query."""
    articles = dict(fetch(_FIRST_COPIES, [known.posting_ids.tolist()]))
    best: dict[int, int] = {}
    for place, posting_id in zip(places.tolist(), known.posting_ids[places].tolist(), strict=True):
        best.setdefault(articles.get(posting_id, -posting_id), place)  # a posting without copies is its own article
    return np.array(list(best.values()), np.intp)
