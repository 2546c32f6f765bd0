"""The effect of searches on the retrieval of replayed sources: records with and without them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from lab.evaluations.replays.summary import VALID
from lab.worlds.addresses import Kind
from lab.worlds.lines import Line, Published, RecordError, Start

HOUR = 3600.0  # s
RAISED = 1.005  # interest from which on a source counts as raised: it is kept in hundredths


@dataclass(frozen=True, slots=True)
class Observed:
    """The contents of one record, in seconds of recorded time."""

    origin: float
    end: float  # of the last request
    requests: Mapping[int, list[float]]  # by source, times of requests for its feed
    published: Mapping[tuple[int, int], float]  # by source and posting
    served: Mapping[tuple[int, int], float]  # the first response with the posting


@dataclass(frozen=True, slots=True)
class Group:
    """Sources of one kind of interest, with searches and without."""

    sources: int
    retrievals: tuple[int, int]
    delays: tuple[float, float]  # hours, mean over postings
    by_root: float  # by how much the root of the interest says that retrievals grow, were they free


def observe(lines: Iterable[Line]) -> Observed:
    """Read a record.

    Raises
    ------
    RecordError
        If it does not begin with its start.

    Examples
    --------
    >>> from lab.worlds.lines import Request
    >>> start = Start(origin=0.0, end=9000.0, start=50.0, speed=60.0, port=8700, setup={})
    >>> request = Request(at=80.0, source=1, kind="feed", method="GET", path="/feed", status=200, first=0, count=1)
    >>> seen = observe([start, Published(60.0, 1, 0, "g", "l"), request])
    >>> seen.requests, seen.published, seen.served
    ({1: [1800.0]}, {(1, 0): 600.0}, {(1, 0): 1800.0})
    """
    iterator = iter(lines)
    start = next(iterator, None)
    if not isinstance(start, Start):
        raise RecordError("the record does not begin with its start")
    requests: dict[int, list[float]] = {}
    published: dict[tuple[int, int], float] = {}
    served: dict[tuple[int, int], float] = {}
    for line in iterator:
        if isinstance(line, Start):
            continue
        at = start.origin + (line.at - start.start) * start.speed
        if isinstance(line, Published):
            published[line.source, line.posting] = at
        elif line.kind == Kind.FEED and line.source is not None:
            requests.setdefault(line.source, []).append(at)
            if line.whole and line.status in VALID:
                for posting in range(line.first, line.count):
                    served.setdefault((line.source, posting), at)
    end = max((times[-1] for times in requests.values()), default=start.origin)
    return Observed(start.origin, end, requests, published, served)


def compare(
    with_searches: Observed, without: Observed, interest: Mapping[int, float], bands: Iterable[float], *, longest: float
) -> list[Group]:
    """Group sources by bands of interest, over the time that both records cover.

    Parameters
    ----------
    interest : mapping
        Of every source that counts, 1 or more.
    bands : iterable of float
        Ascending bounds; a group has the interests from one, and below the next.
    longest : float
        Hours before the end in which postings do not count: they may not have been retrieved yet.

    Raises
    ------
    RecordError
        If no time is left.
    """
    end = min(with_searches.end, without.end)
    if end - longest * HOUR <= without.origin:
        covered = (end - without.origin) / HOUR
        raise RecordError(f"both records cover {covered:.1f} hours only; more than the {longest:g} of a gap are needed")
    counted = (_requests(with_searches, end), _requests(without, end))
    waited = (_waited(with_searches, end - longest * HOUR), _waited(without, end - longest * HOUR))
    groups = []
    for low, high in pairwise(bands):
        chosen = [source for source, factor in interest.items() if low <= factor < high]
        if chosen:
            retrievals = (sum(counted[0][source] for source in chosen), sum(counted[1][source] for source in chosen))
            root = sum(interest[source] ** 0.5 for source in chosen) / len(chosen)
            groups.append(Group(len(chosen), retrievals, (_mean(waited[0], chosen), _mean(waited[1], chosen)), root))
    return groups


def _requests(seen: Observed, end: float) -> Counter[int]:
    return Counter({source: sum(seen.origin <= at < end for at in times) for source, times in seen.requests.items()})


def _waited(seen: Observed, end: float) -> dict[int, list[float]]:
    """By source, the hours that its postings waited: those published before `end`, and served ever."""
    waited: dict[int, list[float]] = {}
    for key, at in seen.published.items():
        if seen.origin <= at < end and key in seen.served:
            waited.setdefault(key[0], []).append((seen.served[key] - at) / HOUR)
    return waited


def _mean(waited: Mapping[int, list[float]], chosen: Iterable[int]) -> float:
    delays = [delay for source in chosen for delay in waited.get(source, ())]
    return sum(delays) / len(delays) if delays else float("nan")
