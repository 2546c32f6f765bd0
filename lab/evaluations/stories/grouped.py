"""Ways to group a stream of reports: ours, ours without one of its parts, and simpler ones."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from apps.postings.algorithms.boilerplate import SourceBoilerplate
from apps.stories.algorithms.clusters import ACTIVE, NEAREST_REPORT, OF_POSTING, Clusters
from apps.stories.algorithms.features import Features, features
from apps.stories.algorithms.grouping import Grouping, Settled
from apps.stories.algorithms.rarity import Rarity
from apps.stories.algorithms.reports import COMPARED, Vector, heaviest, related
from lab.evaluations.stories.stream import Arrival

LIKE_ONE = 0.25  # cosine to the most similar report of the last seven days, for the method that uses nothing else
LIKE_CENTROID = 0.2

Reading = dict[tuple[str, str], Features]
Method = Callable[[Sequence[Arrival], Reading], list[int]]


def read(stream: Iterable[Arrival], known: Reading) -> None:
    """Compute the features of reports that are not known yet."""
    for each in stream:
        if (each.title, each.text) not in known:
            known[each.title, each.text] = features(each.title, each.text, "en")


def ours(
    stream: Sequence[Arrival],
    known: Reading,
    *,
    boost: bool = True,
    lagged: bool = True,
    settling: bool = True,
    nearest_report: float = NEAREST_REPORT,
    stripping: bool = True,
    vectors: dict[int, Vector] | None = None,
) -> list[int]:
    """The story of each report, in the stream's order; 0 for those of no story, which are only counted.

    The vectors of reports without copies are added to `vectors`, by their places in the stream.
    """
    grouping = Grouping(Clusters(nearest_report=nearest_report), boost=boost, lagged=lagged)
    sources: defaultdict[str, SourceBoilerplate] = defaultdict(SourceBoilerplate)
    stories: list[int] = []
    copies: dict[int, int] = {}
    ends: dict[int, int] = {}

    def settle(*, at_once: bool = False) -> None:
        moved, united, _ = grouping.settle(at_once=at_once) if settling else Settled([], [], set())
        for key, story in moved:
            stories[key] = story
        ends.update(united)

    for key, arrival in enumerate(stream):
        found = (
            _stripped(arrival, sources[arrival.publisher], known) if stripping else known[arrival.title, arrival.text]
        )
        grouping.advance(arrival.hours)
        if arrival.story:
            placed = grouping.place(key, arrival.hours, found)
            stories.append(placed.story)
            if placed.copy_of is not None:
                copies[key] = placed.copy_of
            elif vectors is not None and placed.vector is not None:
                vectors[key] = placed.vector
        else:
            stories.append(0)
        settle()
        grouping.rarity.add(arrival.hours, found)
    settle(at_once=True)
    for key, original in copies.items():
        stories[key] = stories[original]
    return [_end(story, ends) for story in stories]


def _stripped(arrival: Arrival, source: SourceBoilerplate, known: Reading) -> Features:
    """The features of a report without what its publisher repeats, which is learned on the way."""
    text = arrival.text
    if text:
        source.observe(text, 3600 * arrival.hours, arrival.title)
        text = source.strip(text, arrival.title)
    if (arrival.title, text) not in known:
        known[arrival.title, text] = features(arrival.title, text, "en")
    return known[arrival.title, text]


def _end(story: int, ends: dict[int, int]) -> int:
    while story in ends:
        story = ends[story]
    return story


def related_pairs(
    stream: Sequence[Arrival], stories: Sequence[int], vectors: dict[int, Vector]
) -> Iterator[tuple[bool, bool]]:
    """Whether two reports of one story of the portal are shown as related, and whether they are of one marked story."""
    members: defaultdict[int, list[int]] = defaultdict(list)
    for key in sorted(vectors):
        earlier = members[stories[key]][-COMPARED:]
        shown = related(vectors[key], [vectors[other] for other in earlier])
        yield from zip(shown, (stream[other].story == stream[key].story for other in earlier), strict=True)
        members[stories[key]].append(key)


def _vectors(stream: Sequence[Arrival], known: Reading) -> list[Vector]:
    """Plain tf-idf, with all that came before counted."""
    rarity, vectors = Rarity(), []
    for arrival in stream:
        found = known[arrival.title, arrival.text]
        rarity.advance(arrival.hours)
        weights = rarity.weights(found, boost=False, lagged=False, general=False)
        vectors.append(heaviest(found.terms, weights, OF_POSTING))
        rarity.add(arrival.hours, found)
    return vectors


def max_link(stream: Sequence[Arrival], known: Reading) -> list[int]:
    """Each report joins the most similar report of the last seven days."""
    vectors = _vectors(stream, known)
    holders: dict[int, list[int]] = {}
    stories: list[int] = []
    for key, arrival in enumerate(stream):
        likeness: dict[int, float] = {}
        for term, weight in zip(vectors[key].terms.tolist(), vectors[key].weights.tolist(), strict=True):
            for other in holders.get(term, ()) if arrival.story else ():
                if arrival.hours - stream[other].hours <= ACTIVE:
                    place = int(np.flatnonzero(vectors[other].terms == term)[0])
                    likeness[other] = likeness.get(other, 0.0) + weight * float(vectors[other].weights[place])
        best = max(likeness, key=lambda other: (likeness[other], -other), default=key)
        stories.append(stories[best] if likeness.get(best, 0.0) >= LIKE_ONE else key + 1 if arrival.story else 0)
        if arrival.story:
            for term in vectors[key].terms.tolist():
                holders.setdefault(term, []).append(key)
    return stories


def plain_centroid(stream: Sequence[Arrival], known: Reading) -> list[int]:
    """Each report joins the most similar centroid of the last seven days; nothing decays, no stories are merged."""
    clusters = _Plain(threshold=LIKE_CENTROID)
    vectors = _vectors(stream, known)
    return [
        clusters.add(key + 1, key, vectors[key], arrival.hours) if arrival.story else 0
        for key, arrival in enumerate(stream)
    ]


class _Plain(Clusters):
    def nearest(self, vector: Vector, hours: float) -> tuple[int, float] | None:
        places = self._listed(self._selective(vector.terms))
        places = places[np.abs(self._latest[places] - hours) <= ACTIVE]
        if not places.size:
            return None
        lengths = np.linalg.norm(self._rows.weights[places], axis=1)
        likeness = self._products(vector, places) / np.maximum(lengths * vector.length, 1e-9)
        best = np.lexsort((self._ids[places], -likeness))[0]
        near = float(likeness[best])
        return (int(self._ids[places[best]]), near) if near >= self.threshold else None


METHODS: dict[str, Method] = {
    "ours": ours,
    "no_boost": partial(ours, boost=False),
    "not_lagged": partial(ours, lagged=False),
    "no_boost_not_lagged": partial(ours, boost=False, lagged=False),
    "no_settling": partial(ours, settling=False),
    "no_stripping": partial(ours, stripping=False),
    "no_nearest_report": partial(ours, nearest_report=0.0),
    "centroid": plain_centroid,
    "max_link": max_link,
}
