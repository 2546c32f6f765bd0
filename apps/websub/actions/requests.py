"""Requests to hubs: guarded like those to sources, each host by turns."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.retrieval.http.robots import make_fetcher


def ask_all(requests: Sequence[FetchRequest]) -> list[Fetched]:
    """The answers, in the order of the requests."""
    return asyncio.run(_ask_all(requests)) if requests else []


async def _ask_all(requests: Sequence[FetchRequest]) -> list[Fetched]:
    async with make_fetcher(lambda: datetime.now(UTC)) as fetcher:
        return await asyncio.gather(*(fetcher.fetch(request) for request in requests))
