"""Assigning postings to stories: duplicates first, then the most similar story; periodically stories are merged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from apps.postings.algorithms.fingerprints import Duplicates, Fingerprint
from apps.stories.algorithms.clusters import ACTIVE, OF_POSTING, PROVISIONAL, Clusters
from apps.stories.algorithms.features import Features
from apps.stories.algorithms.rarity import BLOCK, Rarity
from apps.stories.algorithms.reports import Vector, heaviest

MERGED_AFTER = 100  # stories that got a posting
MERGED_EVERY = 6.0  # hours, if fewer stories got a posting
RECONSIDERED, YOUNG = 2, 8  # latest reports of a story that may move, while it has at most so many
SPLIT_EVERY = 4  # reports after which a story is examined for two halves


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """Where a posting was put."""

    story: int
    copy_of: int | None  # the key of the original
    vector: Vector | None  # its part of the story's sum; None for a copy


class Settled(NamedTuple):
    """What was changed in stories: first postings were moved, then stories merged."""

    moved: list[tuple[int, int]]  # posting and its new story
    united: list[tuple[int, int]]  # merged story and the one that contains it now
    touched: set[int]  # all stories that may have changed


class Grouping:
    """The state for assigning postings to stories.

    Its clock is the latest publication so far. Decisions depend only on the postings and their order, so that another
    instance with the same clusters, reports and counts continues identically.

    Parameters
    ----------
    clusters : Clusters
    boost, lagged : bool
        See `Rarity.weights`.
    """

    def __init__(self, clusters: Clusters | None = None, *, boost: bool = True, lagged: bool = True) -> None:
        self.clusters = Clusters() if clusters is None else clusters  # an empty one is falsy
        self.duplicates, self.rarity = Duplicates(), Rarity()
        self.clock = -1e9  # hours since 1970
        self.merged_at = -1e9
        self.next_story = 1
        self.touched: set[int] = set()  # stories that got a posting since `merged_at`
        self._boost, self._lagged = boost, lagged
        self._homes: dict[int, int] = {}  # story of each posting in `duplicates`, before merges
        self._followers: dict[int, int] = {}  # the story into which a story was merged

    def advance(self, hours: float) -> list[int]:
        """Advance the clock to at least `hours` since 1970 before placing a posting; returns expired stories."""
        before, self.clock = self.clock, max(self.clock, hours)
        self.rarity.advance(self.clock)
        if before // BLOCK == self.clock // BLOCK:
            return []
        expired = self.clusters.expire(self.clock)
        if expired:
            self._forget_homes()
        return expired

    def settle(self, *, at_once: bool = False) -> Settled:
        """Reconsider stories that got a posting and merge similar ones, if due; call after placing a posting."""
        if not at_once and len(self.touched) < MERGED_AFTER and self.clock - self.merged_at < MERGED_EVERY:
            return Settled([], [], set())
        split = self._split()
        released = self._released()
        united = self._merged()
        moved = split + self._moved(released)
        touched = {id for id in self.touched if id in self.clusters} | {story for _, story in moved + united}
        self.touched, self.merged_at = set(), self.clock
        return Settled(moved, united, touched)

    def _split(self) -> list[tuple[int, int]]:
        """Split stories that have become two; returns the reports of the later halves with their new stories."""
        moved = []
        for id in sorted(self.touched):
            due = id in self.clusters and self.clusters.get(id).size % SPLIT_EVERY == 0
            leaving = self.clusters.divided(id) if due else []
            if leaving:
                self.clusters.separate(id, leaving, self.next_story)
                moved += [(report.key, self.next_story) for report in leaving]
                self.touched.add(self.next_story)
                self.next_story += 1
        self._homes.update((key, story) for key, story in moved if key in self._homes)
        return moved

    def _released(self) -> dict[int, int]:
        """Let the latest reports of stories that got one stand alone, under provisional ids; returns their stories."""
        released: dict[int, int] = {}
        for id in sorted(id for id in self.touched if id in self.clusters):
            reports = self.clusters.reports.latest(id)
            for report in reports[1:][-RECONSIDERED:] if len(reports) <= YOUNG else ():
                provisional = PROVISIONAL + len(released)
                released[report.key] = id
                self.clusters.separate(id, [report], provisional)
                self.touched.add(provisional)
        return released

    def _merged(self) -> list[tuple[int, int]]:
        united = [pair for pair in self.clusters.merge(self.touched, self.clock) if pair[0] < PROVISIONAL]
        self._followers.update(united)
        return united

    def _moved(self, released: Mapping[int, int]) -> list[tuple[int, int]]:
        """Give stories with provisional ids their own; returns released reports that are in another story now."""
        for id in (id for id in range(PROVISIONAL, PROVISIONAL + len(released)) if id in self.clusters):
            self.clusters.separate(id, self.clusters.reports.latest(id, len(released)), self.next_story)
            self.next_story += 1
        homes = {key: story for key in released if (story := self.clusters.reports.story(key)) is not None}
        moved = [(key, story) for key, story in homes.items() if story != self._followed(released[key])]
        self._homes.update((key, story) for key, story in moved if key in self._homes)
        return moved

    def _forget_homes(self) -> None:
        for key in [key for key, story in self._homes.items() if self._followed(story) not in self.clusters]:
            self.duplicates.remove(key)
            del self._homes[key]
        needed = set(self._homes.values())
        self._followers = {home: self._followed(home) for home in self._followers if home in needed}

    def is_too_old(self, hours: float) -> bool:
        """Whether no active story can take a posting of this time."""
        return hours < self.clock - ACTIVE

    def place(self, key: int, hours: float, features: Features) -> Assignment:
        """Assign a posting to its story; after `advance`, and before it is counted in `rarity`."""
        original = self.duplicates.find(hours, features.fingerprint)
        home = None if original is None else self.home(original)
        if home is not None and home in self.clusters:
            self.clusters.renew(home, hours)
            return Assignment(home, original, None)
        weights = self.rarity.weights(features, boost=self._boost, lagged=self._lagged)
        vector = heaviest(features.terms, weights, 0 if features.stands_alone else OF_POSTING)
        story = self.clusters.add(self.next_story, key, vector, hours)
        self.next_story += story == self.next_story
        self.touched.add(story)
        self.remember(key, story, hours, features.fingerprint)
        return Assignment(story, None, vector)

    def remember(self, key: int, story: int, hours: float, fingerprint: Fingerprint) -> None:
        """Add a posting to those whose copies are recognized."""
        self.duplicates.add(key, hours, fingerprint)
        if key in self.duplicates:
            self._homes[key] = story

    def take_out(self, key: int, story: int, vector: Vector, hours: float) -> None:
        """Remove an edited or deleted posting without copies."""
        self.forget(key)
        story = self._followed(story)
        if story in self.clusters:
            self.clusters.take_out(story, key, vector, hours)

    def forget(self, key: int) -> None:
        """No longer recognize copies of a posting; its vector stays in the story."""
        self.duplicates.remove(key)
        self._homes.pop(key, None)

    def home(self, key: int) -> int | None:
        """The story of a posting whose copies are recognized."""
        story = self._homes.get(key)
        return None if story is None else self._followed(story)

    def _followed(self, story: int) -> int:
        while story in self._followers:
            story = self._followers[story]
        return story
