"""Jobs that extract kept pages again, find their links again, and crawl sites for a round, on all workers."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from time import monotonic

from django.utils.translation import gettext_lazy as _

from apps.jobs import queries as jobs
from apps.jobs.kinds import Beat, Kind, Parameters, Piece, Stage, Write, register
from apps.retrieval import actions, queries
from apps.retrieval.queries import Slice
from apps.retrieval.worker import engine

PAGES = 100  # per split; larger sites are in several splits, small ones share one
PARTS = 16  # of all found addresses, by their hash
MAX_SITE_SECONDS = 600.0  # at one site in a round; the rest of a slow one is left to the next round


# --- extract ----------------------------------------------------------------------------------------------------------
def _cut_kept_pages(wanted: Parameters, *, of_sites: bool = False) -> Iterator[Piece]:
    together: list[Slice] = []
    for each in queries.kept_pages(PAGES, wanted.get("source"), of_sites=of_sites):
        if each.pages == PAGES:
            yield _pages_of([each])
            continue
        if sum(other.pages for other in together) + each.pages > PAGES:
            yield _pages_of(together)
            together = []
        together.append(each)
    if together:
        yield _pages_of(together)


def _pages_of(slices: Iterable[Slice]) -> Piece:
    each = list(slices)
    pages = sum(one.pages for one in each)
    key = each[0].host if len(each) == 1 else ""
    return Piece({"slices": [[one.source_id, one.first, one.last] for one in each]}, pages, float(pages), key)


def _extract(split: Parameters, beat: Beat) -> Write:
    now = datetime.now(UTC)
    slices: list[tuple[int, int, int]] = split["slices"]
    found = [
        page
        for source_id, first, last in slices
        for page in actions.extract_again(source_id, first, last, beat, now=now)
    ]
    return partial(actions.write_extracted, found, sorted({source_id for source_id, _, _ in slices}))


register(
    Kind(
        "extract",
        _("Re-extract all pages"),
        _("pages"),
        Stage(_extract, _cut_kept_pages),
        options=("source",),
    )
)


# --- update -----------------------------------------------------------------------------------------------------------
def _find_links(split: Parameters, beat: Beat) -> Write:
    slices: list[tuple[int, int, int]] = split["slices"]
    emitted = [
        (key, asdict(linked))
        for source_id, first, last in slices
        for key, linked in actions.links_again(source_id, first, last, beat).items()
    ]
    return lambda: {"emitted": emitted}


def _merge_links(split: Parameters, beat: Beat) -> Write:
    found = []
    for _key, values in jobs.emitted(split["job"], split["part"]):
        found.append(actions.merged(values))
        beat()
    return partial(actions.add_linked, found, now=datetime.now(UTC))


register(
    Kind(
        "update",
        _("Find pages of sites in all stored pages"),
        _("pages"),
        Stage(_find_links, partial(_cut_kept_pages, of_sites=True)),
        reduce=Stage(_merge_links),
        options=("source",),
        parts=PARTS,
    )
)


# --- crawl ------------------------------------------------------------------------------------------------------------
def _cut_sites(wanted: Parameters) -> Iterator[Piece]:
    for site in queries.sites_to_crawl(datetime.now(UTC), wanted.get("partition")):
        yield Piece({"source": site.source_id}, site.pages, float(site.pages), site.host)


def _crawl(split: Parameters, beat: Beat) -> Write:
    """Crawl a site batch by batch, each stored by itself; another worker that crawls it keeps its lease."""
    until, batches = monotonic() + MAX_SITE_SECONDS, 0
    while monotonic() < until and engine.current().fetch_batch(split["source"]):
        batches += 1
        beat()
    beat()  # a worker that stops has not finished
    return lambda: {"turns": batches}


register(
    Kind(
        "crawl",
        _("Fetch one round of waiting pages of all sites"),
        _("pages"),
        Stage(_crawl, _cut_sites),
        options=("partition",),
        backups=False,  # no two workers crawl a slow site at a time
    )
)
