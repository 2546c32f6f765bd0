"""The same rounds for every reader: import, nothing new, something new, rest."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from lab.peers.base import Peer
from lab.peers.server import FeedServer
from lab.peers.verdict import Verdict, judge

Value = TypeVar("Value")


@dataclass
class Rounds:
    """Measures one reader; `figures` has what is known so far."""

    peer: Peer
    server: FeedServer
    figures: dict[str, float] = field(default_factory=dict)

    def run(self, new: int, idle: float) -> None:
        """Run all rounds; `new` postings of each feed are published in between, `idle` seconds rest at the end."""
        published = len(self.server.truth(self.peer.name))
        cpu = self._measure("import_s", lambda: self.peer.import_list(published))
        verdict = self._judge()
        self.figures["import_cpu_ms"] = 1_000 * cpu / verdict.published
        self.figures["import_stored"] = verdict.stored
        self.figures["import_memory_mb"] = self.peer.memory() / 1e6
        self._unchanged(published)
        self._new(new)
        if self.peer.processes:
            self._idle(idle)

    def _unchanged(self, stored: int) -> None:
        self.peer.refresh(stored)  # some send the first condition only at the third request
        self.peer.settle()
        self.server.take_requests(self.peer.name)
        cpu = self._measure("unchanged_s", lambda: self.peer.refresh(stored))
        requests = self.server.take_requests(self.peer.name)
        self.figures["unchanged_cpu_ms"] = 1_000 * cpu / len(self.server.sites)
        self.figures["conditional"] = len({request.number for request in requests if request.conditional})
        self.figures["checked"] = len({request.number for request in requests})

    def _new(self, new: int) -> None:
        self.server.publish(self.peer.name, new)
        published = len(self.server.truth(self.peer.name))
        cpu = self._measure("new_s", lambda: self.peer.refresh(published))
        self.figures["new_cpu_ms"] = 1_000 * cpu / (new * len(self.server.sites))
        verdict = self._judge()
        self.figures["published"] = verdict.published
        self.figures["stored"] = verdict.stored
        self.figures["lost"] = verdict.lost
        self.figures["wrong_titles"] = verdict.wrong_titles
        self.figures["doubled"] = verdict.doubled
        self.figures["memory_mb"] = self.peer.memory() / 1e6
        self.figures["disk_kb"] = self.peer.disk() / 1e3 / max(1, verdict.stored + verdict.doubled)

    def _idle(self, seconds: float) -> None:
        used, began = self.peer.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        self.figures["idle_cpu_percent"] = 100 * (self.peer.cpu_seconds() - used) / took
        self.figures["idle_memory_mb"] = self.peer.memory() / 1e6

    def _measure(self, name: str, do: Callable[[], None]) -> float:
        """Note how long it takes; returns the processor time, with that of the work that follows."""
        cpu, began = self.peer.cpu_seconds(), time.monotonic()
        do()
        self.figures[name] = time.monotonic() - began
        self.peer.settle()
        return self.peer.cpu_seconds() - cpu

    def _judge(self) -> Verdict:
        return judge(self.server.truth(self.peer.name), self.peer.stored())
