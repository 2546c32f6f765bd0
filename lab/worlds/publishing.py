"""Records every posting when feeds begin to show it."""

from collections.abc import Callable, Sequence

import numpy as np

from lab.worlds.addresses import Addresses
from lab.worlds.feed import Feed
from lab.worlds.lines import Published
from lab.worlds.rendering import guid_of
from lab.worlds.timeline import Timeline


class Publisher:
    """Goes through the postings of all feeds once, in the order of their times."""

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
        sizes = [len(feed.times) for feed in feeds]
        times = np.concatenate([np.asarray(feed.times, dtype=np.float64) for feed in feeds] or [np.empty(0)])
        order = np.argsort(times, kind="stable")
        self._times = times[order]
        self._sources = np.repeat([feed.number for feed in feeds], sizes)[order]
        self._postings = np.concatenate([np.arange(size) for size in sizes] or [np.empty(0, int)])[order]
        self._timeline = timeline
        self._addresses = addresses
        self._record = record
        self.done = done

    @property
    def total(self) -> int:
        return self._times.size

    def publish_until(self, now: float) -> None:
        """Record all postings published until the real time `now` that are not recorded yet."""
        recorded = self._timeline.recorded(now)
        while self.done < self.total and self._times[self.done] <= recorded:
            source, posting = int(self._sources[self.done]), int(self._postings[self.done])
            self._record(
                Published(
                    at=self._timeline.real(float(self._times[self.done])),
                    source=source,
                    posting=posting,
                    guid=guid_of(source, posting, self._addresses),
                    link=self._addresses.article(source, posting),
                )
            )
            self.done += 1
