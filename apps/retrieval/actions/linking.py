"""Read and merge the links of kept pages of crawled sites again, and remember unknown pages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.documents import queries as documents
from apps.postings import queries as postings
from apps.retrieval import sandbox
from apps.retrieval.actions.pages import add_links, key_of, lock_crawl
from apps.retrieval.algorithms.crawl.links import Link
from apps.retrieval.algorithms.reading import read_index
from apps.retrieval.models import Page
from apps.sources.algorithms.addresses import host, registrable_domain
from apps.sources.formats.feed import NotAFeed


@dataclass(slots=True)
class Linked:
    """What the pages that link to an address show of it."""

    source_id: int  # the site
    url: str
    text: str  # the longest
    is_headline: bool
    depth: int  # of the nearest of these pages
    pages: int

    def merge(self, other: "Linked") -> None:
        self.text = max(self.text, other.text, key=len)
        self.is_headline |= other.is_headline
        self.depth = min(self.depth, other.depth)
        self.pages += other.pages


def links_again(source_id: int, first: int, last: int, beat: Callable[[], None]) -> dict[str, Linked]:
    """The links of kept pages of a site's postings within the site, by address, from one posting id to another."""
    found: dict[str, Linked] = {}
    kept = postings.with_documents(source_id).filter(pk__gte=first, pk__lte=last)
    depths = dict(Page.objects.filter(posting__in=kept).values_list("posting", "depth"))
    for posting_id, digest in list(kept.order_by("pk").values_list("pk", "document")):
        for link in _links_of(bytes(digest)):
            linked = Linked(source_id, link.url, link.text, link.is_headline, depths.get(posting_id, 1), 1)
            key = f"{source_id} {key_of(link.url).hex()}"
            if key in found:
                found[key].merge(linked)
            else:
                found[key] = linked
        beat()
    return found


def _links_of(digest: bytes) -> Iterable[Link]:
    """Links to pages of the page's own site; none of a page that is lost or cannot be read."""
    try:
        raw = documents.read(digest)
        links = sandbox.run(read_index, raw.body, content_type=raw.content_type, url=raw.url).links
    except (documents.DocumentLost, NotAFeed, ValueError):
        return []
    site = registrable_domain(host(raw.url))
    return [link for link in links if registrable_domain(host(link.url)) == site]


def merged(values: Sequence[Mapping[str, Any]]) -> Linked:
    """One address, merged from several splits."""
    whole = Linked(**values[0])
    for value in values[1:]:
        whole.merge(Linked(**value))
    return whole


@transaction.atomic
def add_linked(found: Iterable[Linked], *, now: datetime) -> dict[str, int]:
    """Remember the unknown ones, those with the most links first; returns counts."""
    by_site: defaultdict[int, defaultdict[int, list[Linked]]] = defaultdict(lambda: defaultdict(list))
    addresses = 0
    for linked in sorted(found, key=lambda each: (-each.pages, each.url)):
        by_site[linked.source_id][linked.depth].append(linked)
        addresses += 1
    new = 0
    for source_id, by_depth in sorted(by_site.items()):  # all take the locks of crawls in this order
        crawl = lock_crawl(source_id, now=now)
        for depth, linked_here in sorted(by_depth.items()):
            links = [Link(each.url, each.text, each.is_headline) for each in linked_here]
            new += add_links(crawl, links, found_on=None, depth=depth, now=now)
    return {"addresses": addresses, "new pages": new}
