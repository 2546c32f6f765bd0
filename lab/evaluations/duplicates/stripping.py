"""How much of what publishers append is stripped, and how much of their reports with it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from apps.postings.algorithms.boilerplate import SOURCES, SourceBoilerplate, Strippers
from lab.evaluations.stories.stream import Labelled, arrivals
from lab.evaluations.stories.variants import boilerplate

COMMON_EVERY = 100  # postings after which the segments of several sources are counted again


def stripped(reports: Sequence[Labelled], seed: int) -> dict[str, float]:
    """Precision and recall of the words that are stripped, each posting being learned and stripped as it arrives.

    The words that count are those which `variants.boilerplate` appends to the stream of `arrivals`. `learned` is the
    recall from a source's fourth posting on.
    """
    sources = defaultdict[str, SourceBoilerplate](SourceBoilerplate)
    strippers = Strippers({})
    totals: Counter[str] = Counter()
    pairs = zip(arrivals(reports, seed), boilerplate(reports, seed), strict=True)
    for number, (plain, arrival) in enumerate(pairs):
        source = sources[arrival.publisher]
        source.observe(arrival.text, 3600 * arrival.hours, arrival.title)
        if number % COMMON_EVERY == 0:
            strippers = Strippers({}, common_keys(each.keys() for each in sources.values()))
        kept = source.strip(arrival.text, arrival.title, strippers.common)
        appended = _words(arrival.text) - _words(plain.text)
        gone = _words(arrival.text) - _words(kept)
        right = (gone & appended).total()
        totals.update(gone=gone.total(), appended=appended.total(), right=right)
        if source.postings > 3:
            totals.update(late=appended.total(), late_right=right)
    return {
        "precision": totals["right"] / max(1, totals["gone"]),
        "recall": totals["right"] / max(1, totals["appended"]),
        "learned": totals["late_right"] / max(1, totals["late"]),
    }


def common_keys(keys: Iterable[Iterable[int]]) -> frozenset[int]:
    """Keys that at least three of the sources have learned; the portal counts them in the database."""
    counts = Counter(key for each in keys for key in set(each))
    return frozenset(key for key, count in counts.items() if count >= SOURCES)


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))
