"""Limits on a worker's connections, so that neither one kind of request nor slow servers take all of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


class Preempted(Exception):
    """A slow request was ended because too many others were slow."""


@dataclass(frozen=True, slots=True)
class Limits:
    due: int = 300  # connections for sources that were retrieved before, and for pages
    first: int = 100  # reserved for first retrievals
    slow: int = 1_000  # for requests that have taken longer than `slow_after`, of both kinds
    slow_after: float = 1.0  # s

    @property
    def total(self) -> int:
        return self.due + self.first + self.slow


SHARES = Limits()


@dataclass(slots=True, eq=False)
class _Held:
    """A connection in use."""

    slots: asyncio.Semaphore
    timeout: asyncio.Timeout
    ended: bool = False  # for another request


class Connections:
    """Slots for connections of one event loop.

    A request that takes longer than `slow_after` releases the slot of its kind and continues among the slow ones. If
    these are too many, the one that has been slow for longest is ended: servers that accept connections and never
    respond delay only each other.
    """

    def __init__(self, limits: Limits = SHARES) -> None:
        self._limits = limits
        self._due = asyncio.Semaphore(limits.due)
        self._first = asyncio.Semaphore(limits.first)
        self.waiting = 0  # requests without a slot
        self._slow: dict[_Held, None] = {}  # the oldest first

    @asynccontextmanager
    async def take(self, *, first: bool) -> AsyncIterator[None]:
        """Hold a connection; raises Preempted inside the block if the request is slow and is ended for another one."""
        slots = self._first if first else self._due
        self.waiting += 1
        try:
            await slots.acquire()
        finally:
            self.waiting -= 1
        held: _Held | None = None
        timer: asyncio.TimerHandle | None = None
        try:
            async with asyncio.timeout(None) as timeout:
                held = _Held(slots, timeout)
                loop = asyncio.get_running_loop()
                timer = loop.call_later(self._limits.slow_after, self._move, held)
                yield
        except TimeoutError:
            if held is not None and held.ended:
                raise Preempted from None
            raise
        finally:
            if timer is not None:
                timer.cancel()
            if held is not None and (held in self._slow or held.ended):
                self._slow.pop(held, None)
            else:
                slots.release()

    def _move(self, held: _Held) -> None:
        held.slots.release()
        self._slow[held] = None
        if len(self._slow) > self._limits.slow:
            oldest = next(iter(self._slow))
            del self._slow[oldest]
            oldest.ended = True
            oldest.timeout.reschedule(asyncio.get_running_loop().time())
