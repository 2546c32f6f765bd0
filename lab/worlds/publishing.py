"""Writes down every posting at the instant from which feeds show it."""

from collections.abc import Callable, Sequence

import numpy as np

from lab.worlds.addresses import Addresses
from lab.worlds.feed import Feed
from lab.worlds.lines import Published
from lab.worlds.rendering import guid_of
from lab.worlds.timeline import Timeline


class Publisher:
    """Goes through the postings of all feeds in the order of their instants, each once."""

    def __init__(
        self,
        feeds: Sequence[Feed],
        timeline: Timeline,
        *,
        addresses: Addresses,
        record: Callable[[Published], None],
        done: int,
    ) -> None:
        """`done` postings are in the record already, from before a restart."""
        sizes = [len(feed.instants) for feed in feeds]
        instants = np.concatenate([np.asarray(feed.instants, dtype=np.float64) for feed in feeds] or [np.empty(0)])
        order = np.argsort(instants, kind="stable")
        self._instants = instants[order]
        self._sources = np.repeat([feed.number for feed in feeds], sizes)[order]
        self._postings = np.concatenate([np.arange(size) for size in sizes] or [np.empty(0, int)])[order]
        self._timeline = timeline
        self._addresses = addresses
        self._record = record
        self.done = done

    @property
    def total(self) -> int:
        return self._instants.size

    def publish_until(self, now: float) -> None:
        """Record all postings published up to a real instant that are not recorded yet."""
        recorded = self._timeline.recorded(now)
        while self.done < self.total and self._instants[self.done] <= recorded:
            source, posting = int(self._sources[self.done]), int(self._postings[self.done])
            self._record(
                Published(
                    at=self._timeline.real(float(self._instants[self.done])),
                    source=source,
                    posting=posting,
                    guid=guid_of(source, posting, self._addresses),
                    link=self._addresses.article(source, posting),
                )
            )
            self.done += 1
