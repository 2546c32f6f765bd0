"""Add a source by any address that a user knows: a feed's own, or that of a page that names its feeds."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.actions import rate_limits
from apps.accounts.models import User
from apps.following.actions import NotPossible
from apps.retrieval.actions.claiming import start
from apps.retrieval.actions.planning import remember_robots
from apps.retrieval.actions.storing import store
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.http.results import decide
from apps.retrieval.http.robots import document_at
from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.claims import Claim
from apps.sources import actions as sources
from apps.sources import formats
from apps.sources import queries as known
from apps.sources.algorithms.addresses import BadAddress, normalise, partition
from apps.sources.algorithms.discovery import Candidate, candidates
from apps.sources.formats.feed import NotAFeed


@dataclass(frozen=True, slots=True)
class Discovery:
    """What an address leads to: a source, or feeds to choose from, or a problem to show."""

    source_id: int | None = None
    choices: tuple[Candidate, ...] = ()
    problem: str = ""


class NoDocument(ValueError):
    """An address has no usable document; the message gives the reason."""


def discover(user: User, address: str, *, now: datetime) -> Discovery:
    """Find the source at an address; a new feed is added together with the postings it shows.

    If a page names one feed, that one is added; of several, the user chooses. Raises TooOften beyond the limit on
    lookups of unknown addresses.
    """
    found = _discover(address, user, now=now)
    if len(found.choices) == 1:
        only = found.choices[0]
        found = _discover(only.url, None, now=now)
        if found.choices:
            return Discovery(problem=f"The page names {only.url} as its feed, but that is a web page, too.")
    return found


def _discover(address: str, counted_for: User | None, *, now: datetime) -> Discovery:
    try:
        url = normalise(address)
        source_id = source_or_lookup(counted_for, url) if counted_for else known.by_address([url]).get(url)
        if source_id is not None:
            return Discovery(source_id=source_id)
        fetched = _document_at(url, now)
    except (BadAddress, NoDocument) as error:
        return Discovery(problem=str(error))
    try:
        formats.parse(fetched.body, content_type=fetched.headers.get("content-type", ""), url=fetched.url)
    except NotAFeed as error:
        choices = candidates(fetched.body, url=fetched.url, link_headers=fetched.headers.get("link", ""))
        return Discovery(choices=choices, problem="" if choices else f"{error} It does not name a feed either.")
    return Discovery(source_id=_add(fetched.permanent_url or url, fetched, now))


def fetch_document(user: User, address: str, *, now: datetime) -> bytes:
    """The document at an address, requested like a source: guarded, at most once an hour, and at most 10 MB.

    Raises BadAddress, NoDocument, and TooOften beyond the limit on lookups.
    """
    url = normalise(address)
    count_lookup(user)
    return _document_at(url, now).body


def _document_at(url: str, now: datetime) -> Fetched:
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
    source_id = sources.add_source(sources.NewSource(url=url))
    Schedule.objects.bulk_create([Schedule(source_id=source_id, partition=partition(url))], ignore_conflicts=True)
    claim = Claim(source_id, 0, now.timestamp(), now.timestamp())
    # Nothing begins if the same source was added a moment ago: the sequence of its schedule is higher then.
    store([decide(begun, fetched, jitter=0.0) for begun in start([claim], worker="", now=now)])
    return source_id


# --- the rate limit on lookups of addresses that the portal does not know ---------------------------------------------
MAX_LOOKUPS, WITHIN = 60, 3_600  # of one user, by pages and APIs together; seconds


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
