"""The test of a source: each step that a retrieval would take, shown to a person. Nothing is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter

from apps.retrieval.asking import document_at
from apps.retrieval.fetching import Fetched
from apps.sources import formats
from apps.sources.algorithms.addresses import BadAddress, normalise
from apps.sources.algorithms.discovery import Candidate, candidates
from apps.sources.formats.feed import NotAFeed, ParsedFeed

SHOWN_DOCUMENT = 20_000  # characters


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
    choices: tuple[Candidate, ...] = ()
    problem: str = ""


class Stopped(Exception):
    """A step failed; its message is the problem to show."""


def inspect(address: str, *, now: datetime) -> Inspection:
    """Take every step of a retrieval of `address` up to the postings found, and write nothing."""
    inspection = Inspection()
    try:
        _inspect(inspection, address, now)
    except Stopped as stop:
        inspection.problem = str(stop)
    return inspection


def _inspect(inspection: Inspection, address: str, now: datetime) -> None:
    with _step(inspection, "Address") as details:
        url = _address(address)
        details.append(url)
    with _step(inspection, "Request") as details:
        fetched, _robots = document_at(url, now=now)
        details.extend(_request_details(fetched))
        if fetched.failure:
            raise Stopped(fetched.failure.message)
        inspection.document = fetched.body[: 4 * SHOWN_DOCUMENT].decode("utf-8", "replace")[:SHOWN_DOCUMENT]
        if fetched.status != 200:
            raise Stopped(f"The server answered with the status {fetched.status}.")
    with _step(inspection, "Format") as details:
        try:
            inspection.feed = _parse(fetched)
        except NotAFeed as error:
            inspection.choices = candidates(fetched.body, url=fetched.url, link_headers=fetched.headers.get("link", ""))
            raise Stopped(str(error)) from error
        details.append(f"{inspection.feed.kind}, titled “{inspection.feed.title}”")
        details.extend(inspection.feed.problems)
    with _step(inspection, "Postings") as details:
        entries = inspection.feed.entries
        details.append(f"{len(entries)} found, {sum(entry.published is not None for entry in entries)} of them dated")


def _address(address: str) -> str:
    try:
        return normalise(address)
    except BadAddress as error:
        raise Stopped(str(error)) from error


def _request_details(fetched: Fetched) -> Iterator[str]:
    yield from (f"{hop.status} to {hop.url}" for hop in fetched.redirects)
    if fetched.status:
        yield f"status {fetched.status}, {len(fetched.body):,} bytes ({fetched.wire_bytes:,} on the wire)"
    for name in ("content-type", "etag", "last-modified", "cache-control", "retry-after"):
        if name in fetched.headers:
            yield f"{name}: {fetched.headers[name]}"
    yield f"answered at {fetched.received_at:%H:%M:%S} UTC"


def _parse(fetched: Fetched) -> ParsedFeed:
    return formats.parse(fetched.body, content_type=fetched.headers.get("content-type", ""), url=fetched.url)


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
