"""Stories as clusters: single-pass clustering of postings in order of time, and merging of similar clusters."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.agreement import CHANCE_AMONG_MANY, FADING, HALF_LIFE, MANY, abundance, agrees, faded
from apps.stories.algorithms.features import BUCKETS, Terms
from apps.stories.algorithms.reports import (
    NOTHING,
    Places,
    Report,
    Reports,
    Rows,
    Vector,
    added,
    halves,
    similarities,
    subtracted,
)

ACTIVE = 7 * 24.0  # hours after its latest posting in which a story takes new ones
THRESHOLD = 7.0  # likeness below which a posting begins a new story
NEAREST_REPORT = 0.2  # similarity to the nearest report of a story below which a posting does not join it
LASTING = 5 * 24.0  # hours to the mean time of a story, beyond which its nearest report must be ever more similar
CHANCE, CHANCE_WEIGHT = 0.008, 100  # similarity of two arbitrary reports that is assumed, and as how many reports
FRESH_WEIGHT = 5  # reports of the moment that are assumed
CHANCE_FLOOR = 0.006  # added to the similarity that is due to chance
OF_POSTING, OF_STORY = 96, 128  # heaviest terms of a vector
PROBED = 6  # heaviest known terms of a posting: it is compared with the stories that have one of them
TOO_COMMON = 150  # stories with a term, above which it selects no stories
WEIGHED = 12  # most similar stories whose likeness is computed

MERGED_WITHIN = 7 * 24.0  # hours since the latest posting of both
SPLIT_THRESHOLD = 0.8  # share of the threshold: a story is split if its halves are less alike
SPLIT_FROM = 4  # reports
HEADS, SHARED_HEADS = 12, 2  # heaviest terms of two stories, and how many of them must be shared
PROVISIONAL = 1 << 62  # ids from here on are of stories while they are reconsidered: no posting joins them

_NOTHING = BUCKETS  # padding: no posting has this term


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """The vector of a story with its times."""

    id: int
    vector: Vector  # sum of its postings' vectors
    size: int  # postings in the sum, without copies
    latest: float  # hours since 1970, of its latest posting
    centre: float  # mean time of the postings in the sum, in hours since 1970


class Clusters:
    """The active stories.

    Each is a row of matrices of fixed width, so that a posting is compared with hundreds of them in one step; an
    inverted index selects them. Decisions depend only on the clusters, not on their history.

    Parameters
    ----------
    threshold : float
        Likeness from which a posting joins a story, and from which two stories are merged.
    nearest_report : float
        Similarity to the nearest report of a story, from which a posting joins it.
    """

    def __init__(self, threshold: float = THRESHOLD, nearest_report: float = NEAREST_REPORT) -> None:
        self.threshold, self.nearest_report = threshold, nearest_report
        self.reports = Reports()
        self._sum = np.zeros(BUCKETS + 1)  # of the vectors of all stories
        self._total = 0  # reports in the sum
        self._fresh, self._fresh_at = 0.0, 0.0  # their number as it has faded, at a time in hours since 1970
        self._places: dict[int, int] = {}
        self._free: list[int] = []
        self._rows = Rows(OF_STORY, HEADS, _NOTHING)
        self._widths = np.zeros(1024, np.int64)
        self._ids = np.zeros(1024, np.int64)
        self._sizes = np.zeros(1024, np.int64)
        self._latest = np.zeros(1024)
        self._centres = np.zeros(1024)
        # Rows that have, or once had, the term; those of provisional stories only their heaviest ones.
        self._holders: defaultdict[int, array[int]] = defaultdict(lambda: array("q"))
        self._listing = np.zeros(1024, np.int64)  # scratch: position of each row in a list
        self._held = np.zeros(BUCKETS + 1, np.int32)  # number of stories with each term
        self._query = np.zeros(BUCKETS + 1, np.float32)  # scratch: weights of one vector by term

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, id: int) -> bool:
        return id in self._places

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def get(self, id: int) -> Cluster:
        place = self._places[id]
        latest, centre = float(self._latest[place]), float(self._centres[place])
        return Cluster(id, self._vector(place), int(self._sizes[place]), latest, centre)

    def _vector(self, place: int) -> Vector:
        size = int(self._widths[place])
        return Vector(self._rows.terms[place, :size].copy(), self._rows.weights[place, :size].copy())

    def put(self, cluster: Cluster) -> None:
        """Add a story, or replace it."""
        place = self._places.get(cluster.id)
        if place is None:
            place = self._places[cluster.id] = self._free.pop() if self._free else self._new_place()
        listed = HEADS if cluster.id >= PROVISIONAL else OF_STORY
        known = set(self._clear(place)[:listed].tolist())
        self._sum[cluster.vector.terms] += cluster.vector.weights
        self._count(cluster.size, cluster.centre, 1)
        self._rows.put(place, cluster.vector)
        self._widths[place] = cluster.vector.terms.size
        self._ids[place], self._sizes[place] = cluster.id, cluster.size
        self._latest[place], self._centres[place] = cluster.latest, cluster.centre
        self._held[cluster.vector.terms] += 1
        self._note_holder([term for term in cluster.vector.terms[:listed].tolist() if term not in known], place)

    def _clear(self, place: int) -> Terms:
        """Count the story in a row no longer; returns its terms until the row is overwritten."""
        before: Terms = self._rows.terms[place, : self._widths[place]]
        self._sum[before] -= self._rows.weights[place, : before.size]
        self._held[before] -= 1
        self._count(int(self._sizes[place]), float(self._centres[place]), -1)
        return before

    def _count(self, size: int, centre: float, sign: int) -> None:
        if not self._total:
            self._fresh, self._fresh_at = 0.0, centre
        self._total += sign * size
        self._fresh += sign * size * 2 ** ((centre - self._fresh_at) / HALF_LIFE)

    def _note_holder(self, terms: list[int], place: int) -> None:
        for term, held in zip(terms, self._held[terms].tolist(), strict=True):
            holders = self._holders[term]
            if len(holders) > 2 * held + 8:  # most no longer have it
                places = np.unique(np.array(holders))
                have = (self._rows.terms[places] == term).any(axis=1)
                holders[:] = array("q", places[have].tolist())
            holders.append(place)

    def remove(self, id: int) -> None:
        place = self._places.pop(id)
        self._clear(place)
        self._rows.put(place, NOTHING)
        self._widths[place] = self._sizes[place] = 0
        self.reports.drop(id)
        self._free.append(place)

    def _new_place(self) -> int:
        place = len(self._places)
        if place == len(self._ids):
            for name in ("_widths", "_ids", "_sizes", "_latest", "_centres", "_listing"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
            self._rows.double()
        return place

    # --- one posting --------------------------------------------------------------------------------------------------
    def nearest(self, vector: Vector, hours: float) -> tuple[int, float] | None:
        """The story that a posting joins, the one most like it, and the likeness; of equal ones the older story.

        likeness = mean similarity to its reports x (0.15 + 0.85 x 2^(-gap / 48 h)) / sqrt(e(posting) e(story)), where
        e is the mean similarity to all active reports: how many times as similar as chance makes two reports of this
        moment. So the threshold follows how dense the moment is; and it rises with the number of stories, since the
        most similar of many unrelated stories is more similar than that of few. The gap is the mean of those to its
        latest posting and to the mean of its times. Candidates have one of the posting's six heaviest terms that any
        story has, a posting within seven days of it, and a report that is itself similar to it.
        """
        probed = self._selective(vector.terms)[:PROBED]
        places = self._listed(probed)
        since = np.abs(self._latest[places] - hours)
        places, since = places[since <= ACTIVE], since[since <= ACTIVE]
        sizes = self._sizes[places]
        gaps = (since + np.abs(self._centres[places] - hours)) / 2
        means = self._products(vector, places) / np.maximum(sizes, 1) * faded(gaps)
        most = np.lexsort((self._ids[places], -means * np.sqrt(sizes)))[:WEIGHED]
        places = places[most]
        likeness = self._likeness(means[most], self._by_chance(vector), places, hours)
        # Rounded, since the last digits depend on the order in which stories were added.
        for best in np.lexsort((self._ids[places], -likeness.round(6))):
            if likeness[best] < self.threshold:
                break
            # Some no longer have the term that listed them.
            if (self._rows.terms[places[best], :, None] == probed).any() and self._agrees(
                vector, int(self._ids[places[best]]), hours
            ):
                return int(self._ids[places[best]]), round(float(likeness[best]), 6)
        return None

    def _agrees(self, vector: Vector, id: int, hours: float) -> bool:
        """Whether a report of a story is similar to a posting, not only their mean; the more, the longer it lasts."""
        lasts = abs(hours - float(self._centres[self._places[id]])) / LASTING
        self._query[vector.terms] = vector.weights
        least = self.nearest_report * max(lasts, 1.0)
        found = agrees(self._query, hours, self.reports.latest(id)[::-1], least, len(self))
        self._query[vector.terms] = 0
        return found

    def _likeness(self, means: NDArray[np.float64], chance: float, places: Places, hours: float) -> NDArray[np.float64]:
        """How many times as similar as by chance; 0 where that is less than the threshold."""
        likeness = np.zeros(places.size)
        freshness = self._freshness(hours)
        # What chance alone has at least is soon known, and leaves few.
        near = np.flatnonzero(means / np.sqrt(chance * self._smoothed(0.0)) / freshness >= self.threshold)
        likeness[near] = means[near] / np.sqrt(chance * self._chances(places[near])) / freshness
        return likeness

    def _freshness(self, hours: float) -> float:
        """The mean share of similarity that active reports have not lost by their age."""
        faded = self._fresh * 2 ** ((self._fresh_at - hours) / HALF_LIFE)
        share = (faded + FRESH_WEIGHT) / (self._total + FRESH_WEIGHT)
        return 1 - FADING + FADING * min(share, 1.0)

    def _by_chance(self, vector: Vector, size: int = 1) -> float:
        """The mean similarity of a vector's reports with all active ones."""
        return self._smoothed(float(self._sum[vector.terms] @ vector.weights) / size)

    def _chances(self, places: Places) -> NDArray[np.float64]:
        """The same of some stories."""
        sums = self._rows.dense_products(self._sum, places)
        return np.array([self._smoothed(mean) for mean in (sums / np.maximum(self._sizes[places], 1)).tolist()])

    def _smoothed(self, mean: float) -> float:
        """The mean similarity by chance from the sum over all active reports."""
        mean = (mean + CHANCE * CHANCE_WEIGHT) / (self._total + CHANCE_WEIGHT) + CHANCE_FLOOR
        return max(mean, CHANCE_AMONG_MANY * abundance(len(self)))

    def add(self, id: int, key: int, vector: Vector, hours: float) -> int:
        """Add a posting to the most similar story, or to a new one with the given id; returns the story's id."""
        nearest = self.nearest(vector, hours)
        if nearest is None:
            self.put(Cluster(id, vector, 1, hours, hours))
        else:
            id = nearest[0]
            self._join(id, Cluster(0, vector, 1, hours, hours))
        self.reports.add(id, Report(key, vector, hours))
        return id

    def _join(self, id: int, other: Cluster) -> None:
        known = self.get(id)
        size = known.size + other.size
        centre = (known.centre * known.size + other.centre * other.size) / size
        vector = added(known.vector, other.vector, OF_STORY)
        self.put(Cluster(id, vector, size, max(known.latest, other.latest), centre))

    def renew(self, id: int, hours: float) -> None:
        """Note the time of a copy of one of its postings, which changes nothing else."""
        place = self._places[id]
        self._latest[place] = max(self._latest[place], hours)

    def take_out(self, id: int, key: int, vector: Vector, hours: float) -> None:
        """Remove a posting from a story; removing the last one ends the story."""
        known = self.get(id)
        self.reports.remove(id, key)
        rest = subtracted(known.vector, vector)
        if known.size <= 1 or not rest.terms.size:
            self.remove(id)
            return
        size = known.size - 1
        self.put(Cluster(id, rest, size, known.latest, (known.centre * known.size - hours) / size))

    def expire(self, hours: float) -> list[int]:
        """Remove stories without a posting in the last seven days; returns their ids."""
        expired = sorted(id for id, place in self._places.items() if hours - self._latest[place] > ACTIVE)
        for id in expired:
            self.remove(id)
        return expired

    def _selective(self, terms: Terms) -> Terms:
        """Those of the terms that at least one story has, but not too many."""
        held = self._held[terms]
        return terms[(held > 0) & (held <= TOO_COMMON)]

    def _listed(self, terms: Terms) -> Places:
        """The rows of stories with one of the terms, and of some that once had one."""
        if not terms.size:
            return np.zeros(0, np.int64)
        listed = np.concatenate([np.frombuffer(self._holders[term], np.int64) for term in terms.tolist()])
        numbers = np.arange(listed.size)
        self._listing[listed] = numbers  # of duplicates one number stays
        places: Places = listed[self._listing[listed] == numbers]
        return places

    def _products(self, vector: Vector, places: Places) -> NDArray[np.float64]:
        """Scalar products of a vector with the stories in some rows."""
        self._query[vector.terms] = vector.weights
        products = self._rows.products(self._query, vector.terms, places)
        self._query[vector.terms] = 0
        return products

    # --- two stories --------------------------------------------------------------------------------------------------
    def merge(self, touched: Collection[int], hours: float) -> list[tuple[int, int]]:
        """Merge stories that have become similar; returns pairs of a merged story and the one that contains it now.

        One of each pair was `touched` by a posting since the last call, both got one in the last seven days, and they
        share two of their twelve heaviest terms, at least one of them rare. Likeness is the mean similarity of their
        reports, by what chance makes it, as in `nearest`, with the gap of their mean times. The most alike are merged
        first; results may be merged again. The older id, which is the smaller one, stays.
        """
        united: list[tuple[int, int]] = []
        waiting = {id for id in touched if id in self._places}
        while waiting:
            pairs = sorted({pair for id in waiting if id in self._places for pair in self._alike(id, hours)})
            waiting = set()
            for _, older, younger in pairs:
                if not {older, younger} & waiting:
                    other = self.get(younger)
                    self.reports.merge(younger, older)
                    self.remove(younger)
                    self._join(older, other)
                    united.append((younger, older))
                # Also a story whose best partner was just merged waits for the next round.
                waiting |= {older, younger}
        return united

    def _may_merge(self, older: int, younger: int) -> bool:
        """Whether a report of a story agrees with one of another story, or stories are few."""
        return abundance(len(self)) < MANY or any(
            self._agrees(each.vector, older, each.hours) for each in reversed(self.reports.latest(younger))
        )

    def _alike(self, id: int, hours: float) -> list[tuple[float, int, int]]:
        """Stories that this one could be merged with: negative similarity, smaller and larger id."""
        place = self._places[id]
        if hours - self._latest[place] > MERGED_WITHIN:
            return []
        heads = self._rows.terms[place, : min(HEADS, self._widths[place])]
        selective = self._selective(heads)
        others = self._rows.sharing(heads, self._listed(selective), SHARED_HEADS)
        if selective.size < heads.size:
            others = self._rows.sharing(selective, others, 1)
        others = others[(hours - self._latest[others] <= MERGED_WITHIN) & (others != place)]
        if not others.size:
            return []
        cluster = self.get(id)
        means = self._products(cluster.vector, others) / (cluster.size * np.maximum(self._sizes[others], 1))
        means *= faded(np.abs(self._centres[others] - self._centres[place]))
        likeness = self._likeness(means, self._by_chance(cluster.vector, cluster.size), others, hours)
        found = zip(likeness.tolist(), self._ids[others].tolist(), strict=True)
        # Rounded, since from the other side the last digits may differ.
        return [
            (-round(like, 6), min(id, other), max(id, other))
            for like, other in found
            if like >= self.threshold and self._may_merge(min(id, other), max(id, other))
        ]

    # --- one story that has become two --------------------------------------------------------------------------------
    def divided(self, id: int) -> list[Report]:
        """The reports that no longer belong to a story, since it has drifted or was joined wrongly; mostly none.

        Of its latest 24 reports average linkage forms two halves. If the likeness between them is below 0.8 of the
        threshold, the half without the earliest report is returned.
        """
        reports = self.reports.latest(id) if id in self._places else []
        if len(reports) < SPLIT_FROM:
            return []
        hours = np.array([report.hours for report in reports])
        chance = np.sqrt([self._by_chance(report.vector) for report in reports])
        likeness = (
            similarities(reports)
            * faded(np.abs(hours[:, None] - hours))
            / np.outer(chance, chance)
            / self._freshness(hours.max())
        )
        leaving, between = halves(likeness.round(6))
        if between >= SPLIT_THRESHOLD * self.threshold:
            return []
        return [report for report, leaves in zip(reports, leaving.tolist(), strict=True) if leaves]

    def separate(self, id: int, reports: Collection[Report], new: int) -> None:
        """Move reports of a story into a new one."""
        for report in reports:
            self.take_out(id, report.key, report.vector, report.hours)
            part = Cluster(new, report.vector, 1, report.hours, report.hours)
            if new in self._places:
                self._join(new, part)
            else:
                self.put(part)
            self.reports.add(new, report)
