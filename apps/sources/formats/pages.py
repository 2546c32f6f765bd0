"""The input of a source kind: fetched pages; and the next page to fetch."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A document as it was fetched, no longer compressed."""

    content: bytes
    content_type: str  # the header of the response
    url: str


@dataclass(frozen=True, slots=True)
class Follow:
    """The address of the page to fetch next."""

    url: str
