"""One attempt to hand something to the other side, and what it answers."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from apps.retrieval.algorithms.politeness import retry_after
from apps.retrieval.asking import make_fetcher
from apps.retrieval.fetching import Failure, Fetched, FetchRequest

_NOT_NOW = frozenset({408, 425, 429})  # of those that blame us, the ones that another time may please


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an attempt. Without an error it was taken."""

    status: int | None = None  # of HTTP or SMTP; None where no answer came
    error: str = ""  # a sentence for people
    is_lasting: bool = False  # another attempt is likely to end the same way
    wish: float | None = None  # s until the other side wants to hear of us again
    is_gone: bool = False  # nobody lives there any more, for good


def post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Post something to an address, guarded like sources are, and never to where it redirects."""
    fetched = asyncio.run(_ask(FetchRequest(url, message=body, headers=headers, accept="*/*", body_limit=0)))
    # What stands in the answer is nobody's business: its status counts, whatever came of its body.
    if 200 <= fetched.status < 300:
        return Answer(fetched.status)
    if fetched.status:
        return _refusal(fetched)
    assert fetched.failure is not None
    return _silence(fetched.failure)


async def _ask(request: FetchRequest) -> Fetched:
    async with make_fetcher(lambda: datetime.now(UTC)) as fetcher:
        return await fetcher.fetch(request)


def _refusal(fetched: Fetched) -> Answer:
    status = fetched.status
    error = f"The server answered with status {status}."
    if 300 <= status < 400:
        error = f"It redirects (status {status}), which is not followed: enter the final address."
    return Answer(
        status,
        error,
        is_lasting=status < 500 and status not in _NOT_NOW,
        wish=retry_after(fetched.headers, fetched.received_at) if status in {429, 503} else None,
        is_gone=status in {404, 410},
    )


def _silence(failure: Failure) -> Answer:
    if failure.kind == "refused_address":
        return Answer(error="Its address is in a private or reserved network; nothing was sent.", is_lasting=True)
    return Answer(error=failure.message, is_lasting=failure.kind == "bad_address")
