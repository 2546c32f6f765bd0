"""The test of a source: each step of a retrieval, for display. Nothing is stored."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any

from django.utils.translation import gettext_noop as _

from apps.retrieval import sandbox
from apps.retrieval.algorithms.crawl.links import Link
from apps.retrieval.algorithms.reading import read_index
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.http.results import page_of
from apps.retrieval.http.robots import document_at
from apps.sources import kinds
from apps.sources.algorithms.addresses import BadAddress, normalise
from apps.sources.algorithms.discovery import Candidate, candidates
from apps.sources.formats.feed import NotAFeed, ParsedEntry, ParsedFeed
from apps.sources.formats.proposals import Proposal
from apps.sources.formats.recipes import Recipe
from apps.sources.kinds import SourceKind

SHOWN_DOCUMENT = 20_000  # characters
MAX_INDENTED_BYTES = 2**20  # of JSON that is indented


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    ok: bool
    details: tuple[str, ...]
    milliseconds: float


@dataclass(slots=True)
class Inspection:
    steps: list[Step] = field(default_factory=list)
    document: str = ""  # its beginning
    feed: ParsedFeed | None = None
    links: tuple[Link, ...] = ()  # of a site that is to be crawled
    choices: tuple[Candidate, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Proposals:
    """Recipes for a document, or the problem why there are none."""

    found: tuple[Proposal, ...] = ()
    problem: str = ""


class Stopped(Exception):
    """A step failed; its message is the problem to show."""


def inspect(address: str, *, now: datetime, kind: str = kinds.DEFAULT, recipe: Recipe | None = None) -> Inspection:
    """Run every step of a retrieval of `address` up to the postings found, and store nothing."""
    inspection = Inspection()
    try:
        _inspect(inspection, address, kinds.kind_of(kind), recipe or Recipe(), now)
    except Stopped as stop:
        inspection.problem = str(stop)
    return inspection


def propose_recipes(address: str, example_title: str, *, kind: str, now: datetime) -> Proposals:
    """Recipes for the document at an address that find the item with this title and those like it."""
    try:
        fetched = _usable(document_at(_address(address), now=now)[0])
        found = _in_sandbox(kinds.propose, kind, page_of(fetched), example_title)
    except Stopped as stop:
        return Proposals(problem=str(stop))
    if not found:
        return Proposals(problem=f"Nothing in the document at {fetched.url} is titled like “{example_title}”.")
    return Proposals(tuple(found))


def _inspect(inspection: Inspection, address: str, kind: SourceKind, recipe: Recipe, now: datetime) -> None:
    with _step(inspection, _("Address")) as details:
        url = _address(address)
        details.append(url)
    if kind.own(recipe).to_json() or kind.required:
        with _step(inspection, _("Recipe")) as details:
            details.extend(_recipe_details(recipe, kind))
    with _step(inspection, _("Request")) as details:
        fetched = _fetch(url, details, now)
        inspection.document = _shown(fetched)
        _usable(fetched)
    if kind.is_crawled:
        _inspect_site(inspection, fetched)
        return
    inspection.feed = _feed_of(inspection, fetched, kind, recipe, now)
    with _step(inspection, _("Postings")) as details:
        details.extend(_entry_details(inspection.feed.entries))


def _feed_of(inspection: Inspection, fetched: Fetched, kind: SourceKind, recipe: Recipe, now: datetime) -> ParsedFeed:
    """Fetch page after page, as the kind requires, until it finds the items."""
    pages = [page_of(fetched)]
    while True:
        with _step(inspection, _("Format") if len(pages) == 1 else _("Next page")) as details:
            try:
                found = _in_sandbox(kinds.read, kind.name, pages, recipe)
            except Stopped:
                if kind.is_feed:
                    header = fetched.headers.get("link", "")
                    inspection.choices = candidates(fetched.body, url=fetched.url, link_headers=header)
                raise
            if isinstance(found, ParsedFeed):
                details.extend(_format_details(found))
                return found
            details.append(f"leads to {found.url}")
            further = _fetch(found.url, details, now)
            inspection.document = _shown(further)
            pages.append(page_of(_usable(further)))


def _inspect_site(inspection: Inspection, fetched: Fetched) -> None:
    with _step(inspection, _("Links")) as details:
        content_type = fetched.headers.get("content-type", "")
        index = _in_sandbox(read_index, fetched.body, content_type=content_type, url=fetched.url)
        inspection.links = index.links
        details.append(f"{len(index.links)} links, from which the crawl begins")


def _in_sandbox(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return sandbox.run(function, *arguments, **named)
    except (NotAFeed, sandbox.TooSlow, sandbox.Crashed) as error:
        raise Stopped(str(error)) from error


# --- details of each step ---------------------------------------------------------------------------------------------
def _address(address: str) -> str:
    try:
        return normalise(address)
    except BadAddress as error:
        raise Stopped(str(error)) from error


def _recipe_details(recipe: Recipe, kind: SourceKind) -> list[str]:
    for name, message in kind.problems(recipe).items():
        raise Stopped(f"The recipe of the source cannot be used. {name.capitalize()}: {message}")
    return [f"{name}: {expression}" for name, expression in kind.own(recipe).to_json().items()]


def _fetch(url: str, details: list[str], now: datetime) -> Fetched:
    fetched, _robots = document_at(url, now=now)
    details.extend(_request_details(fetched))
    return fetched


def _usable(fetched: Fetched) -> Fetched:
    if fetched.failure:
        raise Stopped(fetched.failure.message)
    if fetched.status != 200:
        raise Stopped(f"The server answered with status {fetched.status}.")
    return fetched


def _request_details(fetched: Fetched) -> Iterator[str]:
    yield from (f"{hop.status} to {hop.url}" for hop in fetched.redirects)
    if fetched.status:
        yield f"status {fetched.status}, {len(fetched.body):,} bytes ({fetched.wire_bytes:,} on the wire)"
    for name in ("content-type", "etag", "last-modified", "cache-control", "retry-after"):
        if name in fetched.headers:
            yield f"{name}: {fetched.headers[name]}"
    yield f"answered at {fetched.received_at:%H:%M:%S} UTC"


def _format_details(feed: ParsedFeed) -> Iterator[str]:
    yield f"{feed.kind}, titled “{feed.title}”" if feed.title else feed.kind
    if feed.language:
        yield f"language: {feed.language}"
    yield from feed.problems


def _entry_details(entries: tuple[ParsedEntry, ...]) -> Iterator[str]:
    parts: dict[str, Callable[[ParsedEntry], object]] = {
        "a title": lambda entry: entry.title,
        "a link": lambda entry: entry.link,
        "a text": lambda entry: entry.content or entry.summary,
        "a date": lambda entry: entry.published or entry.updated,
        "a picture": lambda entry: entry.image_url,
        "files": lambda entry: entry.enclosures,
    }
    yield f"{len(entries)} found"
    counts = {name: sum(map(bool, map(read, entries))) for name, read in parts.items()}
    yield ", ".join(f"{count} with {name}" for name, count in counts.items())


def _shown(fetched: Fetched) -> str:
    """The beginning of a document as people can read it."""
    if fetched.body.lstrip()[:1] in (b"{", b"[") and len(fetched.body) <= MAX_INDENTED_BYTES:
        try:
            indented = json.dumps(json.loads(fetched.body), indent=1, ensure_ascii=False)[:SHOWN_DOCUMENT]
            return indented.encode("utf-8", "replace").decode()  # it may hold lone surrogates
        except (ValueError, RecursionError):
            pass  # shown unchanged
    return fetched.body[: 4 * SHOWN_DOCUMENT].decode("utf-8", "replace")[:SHOWN_DOCUMENT]


@contextmanager
def _step(inspection: Inspection, name: str) -> Iterator[list[str]]:
    """Time a step and record its result, also when it stops the inspection."""
    details: list[str] = []
    begin = perf_counter()
    ok = False
    try:
        yield details
        ok = True
    except Stopped as stop:
        details.append(str(stop))
        raise
    finally:
        inspection.steps.append(Step(name, ok, tuple(details), 1_000 * (perf_counter() - begin)))
