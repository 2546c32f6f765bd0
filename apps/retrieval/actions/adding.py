"""Add a source by any address that a person knows: a feed's own, or that of a page that names its feeds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.retrieval.actions.claiming import start
from apps.retrieval.actions.lookups import count_lookup, source_at, source_or_lookup
from apps.retrieval.actions.planning import remember_robots
from apps.retrieval.actions.storing import store
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.http.results import decide
from apps.retrieval.http.robots import document_at
from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.claims import Claim
from apps.sources import actions as sources
from apps.sources import formats
from apps.sources.algorithms.addresses import BadAddress, normalise, partition
from apps.sources.algorithms.discovery import Candidate, candidates
from apps.sources.formats.feed import NotAFeed


@dataclass(frozen=True, slots=True)
class Discovery:
    """What an address leads to: a source, or feeds to choose from, or a problem to tell."""

    source_id: int | None = None
    choices: tuple[Candidate, ...] = ()
    problem: str = ""


class NoDocument(ValueError):
    """An address has nothing for us; the message says why."""


def discover(user: User, address: str, *, now: datetime) -> Discovery:
    """Find the source that a person means; a new feed is added together with the postings it shows.

    Of a page that names one feed, that feed is taken; of several, the person chooses.

    Raises
    ------
    TooOften
        If the portal does not know the address, and the person had too many such looked at within the hour.
    """
    found = _look(address, lambda url: source_or_lookup(user, url), now=now)
    if len(found.choices) == 1:
        only = found.choices[0]
        found = _look(only.url, source_at, now=now)
        if found.choices:
            return Discovery(problem=f"The page names {only.url} as its feed, but that is a web page, too.")
    return found


def _look(address: str, known: Callable[[str], int | None], *, now: datetime) -> Discovery:
    try:
        url = normalise(address)
    except BadAddress as error:
        return Discovery(problem=str(error))
    if (source_id := known(url)) is not None:
        return Discovery(source_id=source_id)
    try:
        fetched = _document_at(url, now)
    except NoDocument as error:
        return Discovery(problem=str(error))
    try:
        formats.parse(fetched.body, content_type=fetched.headers.get("content-type", ""), url=fetched.url)
    except NotAFeed as error:
        choices = candidates(fetched.body, url=fetched.url, link_headers=fetched.headers.get("link", ""))
        return Discovery(choices=choices, problem="" if choices else f"{error} It does not name a feed either.")
    return Discovery(source_id=_add(fetched.permanent_url or url, fetched, now))


def fetch_document(user: User, address: str, *, now: datetime) -> bytes:
    """What an address holds, asked for as sources are: guarded, once an hour at most, and no more than 10 MB.

    Raises
    ------
    BadAddress
        If it cannot be meant.
    NoDocument
        If there is nothing to be had.
    TooOften
        If the person had too many addresses looked at within the hour.
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
    """Add a source together with its first retrieval, which has been made already."""
    source_id = sources.add_source(sources.NewSource(url=url))
    Schedule.objects.bulk_create([Schedule(source_id=source_id, partition=partition(url))], ignore_conflicts=True)
    claim = Claim(source_id, 0, now.timestamp(), now.timestamp())
    # Nothing begins if someone added the same source a moment ago: its schedule has gone on already.
    store([decide(begun, fetched, jitter=0.0) for begun in start([claim], worker="", now=now)])
    return source_id
