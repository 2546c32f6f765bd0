"""Kept pages extracted again, and sites crawled for a round, by any number of workers."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from time import monotonic

from apps.jobs.kinds import Beat, Kind, Parameters, Piece, Stage, Write, register
from apps.retrieval import actions, engine, queries
from apps.retrieval.queries import Slice

PAGES = 250  # of a split; of a site with more the rest is in others, small sites are in one together
LONGEST_VISIT = 600.0  # s at one site in a round; the rest of a slow one is for the next


# --- extract ----------------------------------------------------------------------------------------------------------
def _cut_kept_pages(wanted: Parameters) -> Iterator[Piece]:
    together: list[Slice] = []
    for each in queries.kept_pages(PAGES, wanted.get("source")):
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
        "Take the text out of all kept pages again",
        "pages",
        Stage(_cut_kept_pages, _extract),
        options=("source",),
    )
)


# --- crawl ------------------------------------------------------------------------------------------------------------
def _cut_sites(wanted: Parameters) -> Iterator[Piece]:
    for site in queries.sites_to_crawl(datetime.now(UTC), wanted.get("partition")):
        yield Piece({"source": site.source_id}, site.pages, float(site.pages), site.host)


def _crawl(split: Parameters, beat: Beat) -> Write:
    """A site's turns, one after the other, each stored by itself; whoever else is at it keeps its lease."""
    until, turns = monotonic() + LONGEST_VISIT, 0
    while monotonic() < until and engine.current().take_turn(split["source"]):
        turns += 1
        beat()
    return lambda: {"turns": turns}


register(
    Kind(
        "crawl",
        "Fetch the waiting pages of all sites, for a round",
        "pages",
        Stage(_cut_sites, _crawl),
        options=("partition",),
        backups=False,  # a slow site is not asked by two at a time
    )
)
