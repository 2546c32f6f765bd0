"""Delays of articles of crawled sites, added to the logged retrievals that led to them."""

from collections import defaultdict
from collections.abc import Mapping

from django.db.models import F
from django.db.models.functions import Greatest

from apps.postings import queries as postings
from apps.postings.actions import Stored
from apps.retrieval.actions.due_times import delays
from apps.retrieval.models import Page, Retrieval
from apps.retrieval.planner.due_times import OBSERVING


def log_delays(posting_ids: Mapping[int, int], *, clock_rate: float) -> None:
    """Add the delays of new articles, by their pages, to the retrievals of the index pages that link to them.

    What the first retrieval of an index page showed may be of any age, so it has no delay.
    """
    pages = Page.objects.filter(pk__in=posting_ids, found_on__isnull=False).values_list("pk", "found_on")
    by_index: dict[int, list[int]] = defaultdict(list)
    for page_id, index_id in pages:
        by_index[index_id].append(posting_ids[page_id])
    for index_id, ids in by_index.items():
        _log(index_id, ids, clock_rate)


def _log(index_id: int, posting_ids: list[int], clock_rate: float) -> None:
    visits = Retrieval.objects.filter(source_id=index_id, outcome__in=OBSERVING).order_by("-fetched_at")
    latest = list(visits.values_list("pk", "fetched_at")[:2])
    if len(latest) < 2:
        return
    (visit_id, _), (_, observed_at) = latest
    first = visits.earliest("fetched_at").fetched_at
    waited = []
    for published, retrieved in postings.trusted_dates(posting_ids):
        waited += delays(Stored(1, 0, (published,)), retrieved, clock_rate, observed_at=observed_at, first=first)
    if waited:
        Retrieval.objects.filter(pk=visit_id).update(
            dated=F("dated") + len(waited),
            delay_seconds=F("delay_seconds") + sum(waited),
            longest_delay_seconds=Greatest(F("longest_delay_seconds"), max(waited)),
        )
