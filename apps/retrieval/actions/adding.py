"""Add a source by any address that a user knows: a feed's own, that of a page with a feed, or of any page with news."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.actions import rate_limits
from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.retrieval import sandbox
from apps.retrieval.actions.claiming import start
from apps.retrieval.actions.planning import remember_robots
from apps.retrieval.actions.storing import store
from apps.retrieval.algorithms.crawl.links import Link
from apps.retrieval.algorithms.reading import IndexReading, read_index
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.http.results import decide, page_of
from apps.retrieval.http.robots import document_at
from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.claims import Claim
from apps.sources import actions as sources
from apps.sources import formats, kinds
from apps.sources import queries as known
from apps.sources.algorithms.addresses import BadAddress, host, normalise, partition, registrable_domain
from apps.sources.algorithms.discovery import Candidate, candidates
from apps.sources.formats.feed import NotAFeed
from apps.sources.formats.recipes import Recipe
from apps.sources.models import Source

MAX_PROBED = 6  # addresses at which a feed may be
MIN_LINKS = 5  # to other pages of the site, from which a crawl is offered
SHOWN = 6  # titles shown with an offer
MAX_OFFERS, OFFERS_WITHIN = 20, 86_400  # accepted per user; seconds


@dataclass(frozen=True, slots=True)
class Offer:
    """A way to follow a page without a feed, which a user may accept."""

    url: str
    kind: str
    recipe: Recipe = field(default_factory=Recipe)
    titles: tuple[str, ...] = ()  # of articles that the page shows
    found: int = 0  # articles of the page, or links from which a crawl begins


@dataclass(frozen=True, slots=True)
class Discovery:
    """What an address leads to: a source, feeds to choose from, an offer, or a problem to show."""

    source_id: int | None = None
    choices: tuple[Candidate, ...] = ()
    offer: Offer | None = None
    problem: str = ""  # also beside an offer, for programs that cannot show it


class NoDocument(ValueError):
    """An address has no usable document; the message gives the reason."""


def discover(user: User, address: str, *, now: datetime) -> Discovery:
    """Find the source at an address; a new feed is added together with the postings it shows.

    If a page names one feed, that one is added; of several, the user chooses. Raises TooOften beyond the limit on
    lookups of unknown addresses.
    """
    try:
        url = normalise(address)
        source_id = source_or_lookup(user, url)
        if source_id is not None:
            return Discovery(source_id=source_id)
        fetched = document_of(url, now)
    except (BadAddress, NoDocument) as error:
        return Discovery(problem=str(error))
    if problem := _problem(fetched):
        return _of_page(fetched, problem, now)
    return Discovery(source_id=_add(fetched.permanent_url or url, fetched, now))


def accept(user: User, offer: Offer) -> int:
    """Add the source of an offer; returns its id. Raises TooOften beyond the limit on offers."""
    if not rate_limits.is_within("offer", user.pk, most=MAX_OFFERS, seconds=OFFERS_WITHIN):
        raise TooOften(_("At most %(most)s sites without a feed per day can be added.") % {"most": MAX_OFFERS})
    row = Source(url=offer.url, kind=offer.kind, recipe=offer.recipe.to_json())
    return sources.editing.add_source(row)


def _problem(fetched: Fetched) -> str:
    """Why a document is not a feed; "" for a feed."""
    try:
        formats.parse(fetched.body, content_type=fetched.headers.get("content-type", ""), url=fetched.url)
    except NotAFeed as error:
        return str(error)
    return ""


def _of_page(fetched: Fetched, problem: str, now: datetime) -> Discovery:
    """The feeds that a page names, or those of usual addresses that work; else an offer to read the page itself."""
    choices = candidates(fetched.body, url=fetched.url, link_headers=fetched.headers.get("link", ""))
    are_guesses = all(choice.how == "guess" for choice in choices)
    if len(choices) == 1 or are_guesses:
        working = list(_working(choices[:MAX_PROBED], now))
        if len(working) == 1:
            return Discovery(source_id=working[0].add(now))
        choices = tuple(feed.choice for feed in working)
    if choices:
        return Discovery(choices=choices)
    problem += " It names no feed" if are_guesses else " The feed that it names cannot be read"
    if offer := _listed(fetched):
        return Discovery(offer=offer, problem=f"{problem}.")
    links, site = _links(fetched), registrable_domain(host(fetched.url))
    own = [link for link in links if registrable_domain(host(link.url)) == site]
    if len(own) >= MIN_LINKS:
        return Discovery(offer=Offer(fetched.url, kinds.SITE, found=len(own)), problem=f"{problem}.")
    if not links and b"<script" in fetched.body:
        return Discovery(problem="The page is empty without scripts.")
    return Discovery(problem=f"{problem}, and there is no list of articles.")


class _Feed(NamedTuple):
    """A feed that works, which the portal has already or has just fetched."""

    choice: Candidate
    source_id: int | None
    fetched: Fetched | None

    def add(self, now: datetime) -> int:
        """The id of its source, added if it is missing."""
        if self.fetched is None:
            assert self.source_id is not None
            return self.source_id
        return _add(self.fetched.permanent_url or self.choice.url, self.fetched, now)


def _working(choices: Iterable[Candidate], now: datetime) -> Iterator[_Feed]:
    """The addresses that lead to feeds; of several addresses of one feed, the first.

    One that the portal has is not requested: its documents are not kept for long.
    """
    seen = set()
    for choice in choices:
        with suppress(BadAddress, NoDocument):
            url = normalise(choice.url)
            source_id = known.by_address([url]).get(url)
            fetched = document_of(url, now) if source_id is None else None
            if fetched is None:
                yield _Feed(choice, source_id, None)
            elif not _problem(fetched) and fetched.body not in seen:
                seen.add(fetched.body)
                yield _Feed(choice, None, fetched)


def _listed(fetched: Fetched) -> Offer | None:
    """A recipe that finds the articles that a page lists."""
    page = page_of(fetched)
    for name, kind in kinds.all_kinds().items():
        found = _in_sandbox(kinds.offer, name, page) if kind.examples else None
        if found:
            return Offer(fetched.url, name, found[0].recipe, found[0].titles[:SHOWN], found[0].items)
    return None


def _links(fetched: Fetched) -> Sequence[Link]:
    content_type = fetched.headers.get("content-type", "")
    reading: IndexReading | None = _in_sandbox(read_index, fetched.body, content_type=content_type, url=fetched.url)
    return reading.links if reading else ()


def _in_sandbox(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    with suppress(NotAFeed, sandbox.TooSlow, sandbox.Crashed):
        return sandbox.run(function, *arguments, **named)
    return None


def fetch_document(user: User, address: str, *, now: datetime) -> bytes:
    """The document at an address, requested like a source: guarded, at most once an hour, and at most 10 MB.

    Raises BadAddress, NoDocument, and TooOften beyond the limit on lookups.
    """
    url = normalise(address)
    count_lookup(user)
    return document_of(url, now).body


def document_of(url: str, now: datetime) -> Fetched:
    fetched, robots = document_at(url, now=now)
    remember_robots(robots, now=now)
    if fetched.failure:
        raise NoDocument(fetched.failure.message)
    if fetched.status != 200:
        raise NoDocument(f"{fetched.url} answered with status {fetched.status}.")
    return fetched


@transaction.atomic
def _add(url: str, fetched: Fetched, now: datetime) -> int:
    """Add a source together with its first retrieval, which has already taken place."""
    source_id = sources.editing.add_source(Source(url=url))
    Schedule.objects.bulk_create([Schedule(source_id=source_id, partition=partition(url))], ignore_conflicts=True)
    claim = Claim(source_id, 0, now.timestamp(), now.timestamp())
    # Nothing begins if the same source was added a moment ago: the sequence of its schedule is higher then.
    store([decide(begun, fetched, jitter=0.0) for begun in start([claim], worker="", now=now)])
    return source_id


# --- the rate limit on lookups of addresses that the portal does not know ---------------------------------------------
MAX_LOOKUPS, WITHIN = 60, 3_600  # per user, by pages and APIs together; seconds


class TooOften(NotPossible):
    """A user exceeds the rate limit on lookups."""


def count_lookup(user: User) -> None:
    """Count one lookup; raises TooOften beyond the limit."""
    if not rate_limits.is_within("address", user.pk, most=MAX_LOOKUPS, seconds=WITHIN):
        words = _("At most %(most)s new addresses per hour are checked for you. Try again later.")
        raise TooOften(words % {"most": MAX_LOOKUPS})


def source_or_lookup(user: User, url: str) -> int | None:
    """The source at a normalised address; without one, counts a lookup and may raise TooOften."""
    source_id = known.by_address([url]).get(url)
    if source_id is None:
        count_lookup(user)
    return source_id
