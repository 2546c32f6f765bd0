"""Reads of the interest of sources, and of its data."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from apps.accounts.models import User
from apps.alerts.models import PercolatorQuery, Profile, Relevance
from apps.database.statements import fetch, fetch_rows
from apps.postings.algorithms.words import analyse
from apps.postings.algorithms.words.languages import base_code
from apps.retrieval.algorithms.arrays import IntArray
from apps.retrieval.algorithms.cam.relevance import Vector, unit_vector
from apps.retrieval.models import Plan
from apps.retrieval.planner.state import TABLES, WORTH
from apps.search.algorithms.language import BadQuery, parse, wanted
from apps.search.models import SavedSearch
from apps.search.queries.terms import counted, documents_of
from apps.sources.models import Source

DOCUMENTS_READ = 100  # the newest of a source
DOCUMENTS_TO_KNOW = 10  # of a source; with fewer its profile is updated soon
DAY = timedelta(days=1)


# --- profiles of sources ----------------------------------------------------------------------------------------------
def retrieved_sources() -> list[int]:
    return list(Source.objects.filter(schedule__due_at__isnull=False, site=None).values_list("pk", flat=True))


_UNREAD = """
SELECT source.id FROM sources_source source LEFT JOIN alerts_profile profile ON profile.source_id = source.id
WHERE coalesce(profile.documents < %s AND profile.read_at < %s, true)
    AND EXISTS (SELECT FROM postings_posting WHERE source_id = source.id)
ORDER BY profile.read_at NULLS FIRST, source.id LIMIT %s
"""


def unread_sources(now: datetime, limit: int) -> list[int]:
    """Sources with postings that have no profile, or one of few documents that is an hour old."""
    return [id for (id,) in fetch(_UNREAD, [DOCUMENTS_TO_KNOW, now - timedelta(hours=1), limit])]


def documents_indexed() -> int:
    """Approximate number of documents."""
    [(count,)] = fetch("SELECT next_document FROM search_head UNION ALL SELECT 0 LIMIT 1")
    return max(int(count), 1)


_WRITTEN = """
SELECT source.id AS source_id, document.sequence, document.pairs
FROM unnest(%s::bigint[]) source (id), LATERAL (
    SELECT posting.id FROM postings_posting posting WHERE posting.source_id = source.id
    ORDER BY published_at DESC, posting.id DESC LIMIT %s
) newest JOIN search_document document ON document.posting_id = newest.id AND NOT document.dead
"""


def terms_written(source_ids: Collection[int]) -> dict[int, tuple[IntArray, int]]:
    """The terms of each source's newest documents, with repetitions, and the number of documents."""
    read: dict[int, list[IntArray]] = {}
    for row in fetch_rows(_WRITTEN, [list(source_ids), DOCUMENTS_READ]):
        words = np.frombuffer(row.sequence, "<i4")
        read.setdefault(row.source_id, []).append(
            np.concatenate([words[words > 0], np.frombuffer(row.pairs, "<i4")]).astype(np.int64)
        )
    found = {id: (np.concatenate(documents), len(documents)) for id, documents in read.items()}
    nothing = (np.zeros(0, np.int64), 0)
    return {id: found.get(id, nothing) for id in source_ids}


def frequencies(terms: Iterable[IntArray]) -> dict[int, int]:
    """Document frequency of each of the terms."""
    return documents_of({number for some in terms for number in np.unique(some).tolist()})


def profiles() -> dict[int, Vector]:
    rows = Profile.objects.values_list("source_id", "terms", "weights", named=True)
    return {
        row.source_id: (
            np.frombuffer(row.terms, "<i4").astype(np.int64),
            np.frombuffer(row.weights, "<f4").astype(np.float64),
        )
        for row in rows
    }


# --- vectors of searches ----------------------------------------------------------------------------------------------
def vectors_of(queries: Mapping[int, str]) -> dict[int, Vector]:
    """Queries as vectors of their positive terms, analysed by all languages of the sources."""
    languages = sorted({base_code(code) for code in Source.objects.values_list("language", flat=True).distinct()})
    terms = {saved_id: _terms(query, languages or [""]) for saved_id, query in queries.items()}
    known = counted({term for each in terms.values() for term in each})
    documents = documents_indexed()
    found = {}
    for saved_id, each in terms.items():
        rows = sorted(known[term] for term in each if term in known)
        if rows:
            numbers, held = np.array(rows, np.int64).T
            found[saved_id] = unit_vector(numbers, np.ones(len(rows), np.int64), held, documents)
    return found


def _terms(query: str, languages: Sequence[str]) -> set[str]:
    try:
        texts = [part.text for part in wanted(parse(query))]
    except BadQuery:  # the language has changed since it was saved
        return set()
    return {term for text in texts for language in languages for term in analyse(text, language).terms}


def importances() -> list[Any]:
    """Rows with `saved_id`, `user_id` and `importance` of the searches of active users that can be percolated."""
    return fetch_rows(
        "SELECT saved_id, user_id, importance FROM alerts_percolatorquery"
        " JOIN search_savedsearch saved ON saved.id = saved_id"
        " JOIN accounts_user ON accounts_user.id = user_id"
        " WHERE is_active AND refusal = '' AND importance > 0",
    )


# --- interest of sources ----------------------------------------------------------------------------------------------
_WEIGHTS = """
SELECT source_id, sum(value * counted) FROM alerts_relevance relevance
JOIN alerts_percolatorquery query USING (saved_id)
WHERE counted > 0 AND (%s::bigint[] IS NULL OR source_id = ANY(%s)) GROUP BY source_id
"""


def weights(source_ids: Collection[int] | None = None) -> dict[int, float]:
    """CAM's W of each searched source: the sum over searches of counted importance x relevance."""
    ids = None if source_ids is None else list(source_ids)
    return dict(fetch(_WEIGHTS, [ids, ids]))


_CLAIMS = f"""
SELECT coalesce(source.site_id, source.id), sum(sqrt({WORTH} / greatest(source.interest, 1e-9))
    * coalesce(profile.root_mass, (SELECT avg(root_mass) FROM retrieval_weeklyprofile), 1.0))::float8
FROM {TABLES} WHERE schedule.due_at IS NOT NULL GROUP BY 1
"""


def claims() -> dict[int, float]:
    """The proportions of retrievals of sources without searches; a site includes its index pages."""
    return dict(fetch(_CLAIMS))


def max_share() -> float:
    """The share of its retrievals that a source without searches may lose."""
    plan = Plan.objects.filter(pk=1).first() or Plan()
    return plan.interest_share


# --- for pages --------------------------------------------------------------------------------------------------------
class Raised(NamedTuple):
    """A source that is retrieved more often because of a search."""

    source_id: int
    title: str
    relevance: float
    interest: float  # factor on its worth, from all searches
    share: float  # of this search in it
    extra: float  # retrievals a day because of the search


_RETRIEVALS = """
SELECT source_id, count(*) FROM retrieval_retrieval WHERE source_id = ANY(%s) AND fetched_at > %s GROUP BY source_id
"""


def raised_by(saved: SavedSearch, now: datetime) -> list[Raised]:
    """The sources that a search raises, the most relevant first.

    The number of retrievals grows with the root of a source's worth, which gives the number without any search.
    """
    rows = list(
        Relevance.objects.filter(saved=saved, source__interest__gt=1)
        .order_by("-value", "source_id")
        .select_related("source")
        .only("value", "source__title", "source__url", "source__interest")
    )
    ids = [relevance.source_id for relevance in rows]
    counted = PercolatorQuery.objects.filter(pk=saved.pk).values_list("counted", flat=True).first() or 0.0
    whole, made = weights(ids), dict(fetch(_RETRIEVALS, [ids, now - DAY]))
    found = []
    for relevance in rows:
        source, value = relevance.source, relevance.value
        share = min(counted * value / whole[source.pk], 1.0) if whole.get(source.pk) else 0.0
        extra = made.get(source.pk, 0) * (1 - 1 / sqrt(source.interest)) * share
        if share > 0:
            found.append(Raised(source.pk, source.title or source.url, value, source.interest, share, extra))
    return found


class Raising(NamedTuple):
    """The searches that raise a source."""

    own: tuple[tuple[int, str, float], ...]  # the user's searches: id, name, relevance
    others: int  # number of other users' searches


def raising(source_id: int, user: User) -> Raising:
    found = Relevance.objects.filter(source_id=source_id, saved__percolator_query__importance__gt=0)
    own = found.filter(saved__user=user).order_by("-value").values_list("saved_id", "saved__name", "value")
    return Raising(tuple(own), found.exclude(saved__user=user).count())
