"""The rate limit on requests to a host: one at a time, with a minimum gap between two."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf


class HostBusy(Exception):
    """Too many requests wait for the host; `retry_after` is the number of seconds after which it should be free."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"its host is busy for about {retry_after:.0f} s")
        self.retry_after = retry_after


@dataclass(slots=True)
class _Host:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # first come, first served
    present: int = 0  # requests that hold the host or wait for it
    ended_at: float = -inf  # when the latest request ended, on the loop's clock
    promised: float = -inf  # when the latest refused request may be repeated


class HostRateLimiter:
    """The rate limits of all hosts in one event loop."""

    def __init__(self, *, gap: float, longest_wait: float) -> None:
        """Keep `gap` seconds between two requests to a host; none waits longer than `longest_wait` seconds."""
        self._gap = gap
        self._longest_wait = longest_wait
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def take(self, name: str, *, low_priority: bool = False) -> AsyncIterator[None]:
        """Hold the host exclusively; raises HostBusy if the wait would be too long, at once if that is foreseeable.

        A request of low priority does not hold the host during the gap before it, so that others come first.
        """
        host = self._hosts.setdefault(name, _Host())
        self._refuse_long_waits(host)
        host.present += 1
        try:
            await self._wait(host, low_priority)
            try:
                yield
            finally:
                host.ended_at = asyncio.get_running_loop().time()
                host.lock.release()
        finally:
            host.present -= 1
            if not host.present:
                self._forget_later(name, host)

    def _refuse_long_waits(self, host: _Host) -> None:
        # A lower bound, as the duration of the other requests is unknown.
        wait = max(0.0, self._rest(host)) + host.present * self._gap
        if wait > self._longest_wait:
            raise HostBusy(self._retry_after(host, wait))

    async def _wait(self, host: _Host, low_priority: bool) -> None:
        try:
            async with asyncio.timeout(self._longest_wait):
                await host.lock.acquire()
                while low_priority and (rest := self._rest(host)) > 0:
                    host.lock.release()
                    await asyncio.sleep(rest)
                    await host.lock.acquire()
        except TimeoutError:
            raise HostBusy(self._retry_after(host, self._longest_wait)) from None
        try:
            await asyncio.sleep(self._rest(host))
        except asyncio.CancelledError:
            host.lock.release()
            raise

    def _rest(self, host: _Host) -> float:
        """Seconds until the gap after the latest request is over; negative if it is."""
        return host.ended_at + self._gap - asyncio.get_running_loop().time()

    def _retry_after(self, host: _Host, wait: float) -> float:
        """Seconds until a retry; refused requests get times one gap apart, so that they do not collide again."""
        now = asyncio.get_running_loop().time()
        host.promised = max(host.promised + self._gap, now + wait)
        return host.promised - now

    def _forget_later(self, name: str, host: _Host) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(max(self._gap, host.promised - loop.time()), self._forget, name, host.ended_at)

    def _forget(self, name: str, ended_at: float) -> None:
        host = self._hosts.get(name)
        if host is not None and not host.present and host.ended_at == ended_at:
            del self._hosts[name]
