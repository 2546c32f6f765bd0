"""The test of a source: each step that a retrieval would take, shown to a person. Nothing is written."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any

from apps.retrieval import sandbox
from apps.retrieval.algorithms.crawl.links import Link
from apps.retrieval.algorithms.reading import read_index
from apps.retrieval.asking import document_at
from apps.retrieval.fetching import Fetched
from apps.sources import formats
from apps.sources.algorithms.addresses import BadAddress, normalise
from apps.sources.algorithms.discovery import Candidate, candidates
from apps.sources.formats.feed import NotAFeed, ParsedEntry, ParsedFeed
from apps.sources.formats.podcast_pages import Follow, Page, follow
from apps.sources.formats.proposals import Proposal, propose
from apps.sources.formats.recipes import BadRecipe, Recipe, read_by_recipe
from apps.sources.models import Source

SHOWN_DOCUMENT = 20_000  # characters
LARGEST_INDENTED = 2**20  # bytes of JSON that are laid out anew

Kind = Source.Kind


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    ok: bool
    detail: str
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


def inspect(address: str, *, now: datetime, kind: str = Kind.FEED, recipe: Recipe | None = None) -> Inspection:
    """Take every step of a retrieval of `address` up to the postings found, and write nothing."""
    inspection = Inspection()
    try:
        _inspect(inspection, address, kind, recipe or Recipe(), now)
    except Stopped as stop:
        inspection.problem = str(stop)
    return inspection


def propose_recipes(address: str, example_title: str, *, kind: str, now: datetime) -> Proposals:
    """Recipes for the document at an address that find the item with this title and those like it."""
    try:
        fetched = _usable(document_at(_address(address), now=now)[0])
        content_type = fetched.headers.get("content-type", "")
        found = _in_sandbox(
            propose, fetched.body, example_title, fetched.url, kind=_proposed_kind(kind), content_type=content_type
        )
    except Stopped as stop:
        return Proposals(problem=str(stop))
    if not found:
        return Proposals(problem=f"Nothing in the document at {fetched.url} is titled like “{example_title}”.")
    return Proposals(tuple(found))


def _proposed_kind(kind: str) -> str:
    return kind if kind == Kind.JSON else Kind.XPATH.value


def _inspect(inspection: Inspection, address: str, kind: str, recipe: Recipe, now: datetime) -> None:
    with _step(inspection, "Address") as details:
        url = _address(address)
        details.append(url)
    if recipe.of_kind(kind).to_json() or kind in (Kind.JSON, Kind.XPATH, Kind.REGEX, Kind.SCRAPE):
        with _step(inspection, "Recipe") as details:
            details.extend(_recipe_details(recipe, kind))
    with _step(inspection, "Request") as details:
        fetched = _ask(url, details, now)
        inspection.document = _shown(fetched, kind)
        _usable(fetched)
    if kind == Kind.SITE:
        _inspect_site(inspection, fetched)
        return
    inspection.feed = _feed_of(inspection, fetched, kind, recipe, now)
    with _step(inspection, "Postings") as details:
        details.extend(_entry_details(inspection.feed.entries))


def _feed_of(inspection: Inspection, fetched: Fetched, kind: str, recipe: Recipe, now: datetime) -> ParsedFeed:
    if kind == Kind.SCRAPE:
        return _followed(inspection, fetched, recipe, now)
    with _step(inspection, "Format") as details:
        try:
            feed = _read(fetched, kind, recipe)
        except Stopped:
            if kind in (Kind.FEED, Kind.PODCAST):
                header = fetched.headers.get("link", "")
                inspection.choices = candidates(fetched.body, url=fetched.url, link_headers=header)
            raise
        details.extend(_format_details(feed))
    return feed


def _read(fetched: Fetched, kind: str, recipe: Recipe) -> ParsedFeed:
    content_type = fetched.headers.get("content-type", "")
    if kind in (Kind.FEED, Kind.PODCAST) and not recipe.of_kind(kind).to_json():
        try:
            return formats.parse(fetched.body, content_type=content_type, url=fetched.url)
        except NotAFeed as error:
            raise Stopped(str(error)) from error
    return _in_sandbox(
        read_by_recipe, fetched.body, kind=str(kind), recipe=recipe, content_type=content_type, url=fetched.url
    )


def _followed(inspection: Inspection, fetched: Fetched, recipe: Recipe, now: datetime) -> ParsedFeed:
    """Ask page after page, as the recipe says, until it names a recording."""
    pages = [_page(fetched)]
    while True:
        with _step(inspection, f"Line {len(pages)}") as details:
            found = _in_sandbox(follow, pages, recipe.to_json())
            if isinstance(found, ParsedFeed):
                details.extend(_format_details(found))
                return found
            assert isinstance(found, Follow)
            details.append(f"leads to {found.url}")
            further = _ask(found.url, details, now)
            inspection.document = _shown(further, Kind.SCRAPE)
            pages.append(_page(_usable(further)))


def _page(fetched: Fetched) -> Page:
    return Page(fetched.body, fetched.headers.get("content-type", ""), fetched.url)


def _inspect_site(inspection: Inspection, fetched: Fetched) -> None:
    with _step(inspection, "Links") as details:
        content_type = fetched.headers.get("content-type", "")
        index = _in_sandbox(read_index, fetched.body, content_type=content_type, url=fetched.url)
        inspection.links = index.links
        details.append(f"{len(index.links)} links, from which the crawl begins")


def _in_sandbox(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return sandbox.run(function, *arguments, **named)
    except (NotAFeed, sandbox.TooSlow, sandbox.Crashed) as error:
        raise Stopped(str(error)) from error


# --- what is told of each step ----------------------------------------------------------------------------------------
def _address(address: str) -> str:
    try:
        return normalise(address)
    except BadAddress as error:
        raise Stopped(str(error)) from error


def _recipe_details(recipe: Recipe, kind: str) -> list[str]:
    try:
        recipe.check(kind)
    except BadRecipe as error:
        raise Stopped(str(error)) from error
    return [f"{name}: {expression}" for name, expression in recipe.of_kind(kind).to_json().items()]


def _ask(url: str, details: list[str], now: datetime) -> Fetched:
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


def _shown(fetched: Fetched, kind: str) -> str:
    """The beginning of a document as people can read it."""
    if kind == Kind.JSON and len(fetched.body) <= LARGEST_INDENTED:
        try:
            laid_out = json.dumps(json.loads(fetched.body), indent=1, ensure_ascii=False)[:SHOWN_DOCUMENT]
            return laid_out.encode("utf-8", "replace").decode()  # it may hold half characters
        except (ValueError, RecursionError):
            pass  # then it is shown as it is
    return fetched.body[: 4 * SHOWN_DOCUMENT].decode("utf-8", "replace")[:SHOWN_DOCUMENT]


@contextmanager
def _step(inspection: Inspection, name: str) -> Iterator[list[str]]:
    """Time a step and note how it ended, also when it stops the inspection."""
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
        inspection.steps.append(Step(name, ok, "\n".join(details), 1_000 * (perf_counter() - begin)))
