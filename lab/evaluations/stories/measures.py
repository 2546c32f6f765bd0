"""How well a clustering agrees with stories that people have marked."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-12)


def bcubed(clusters: Sequence[Hashable], stories: Sequence[Hashable]) -> Agreement:
    """BCubed precision and recall of a clustering.

    Of each item: the share of its cluster that is of its story, and the share of its story that is in its cluster; the
    means over all items.

    Parameters
    ----------
    clusters, stories : (n_items,) sequences of hashable
        The cluster that each item was put into, and the story that it is of. At least one.

    References
    ----------
    A. Bagga, B. Baldwin, "Entity-based cross-document coreferencing using the vector space model", ACL 1998.

    Examples
    --------
    >>> agreement = bcubed([1, 1, 2], ["a", "a", "a"])
    >>> agreement.precision, round(agreement.recall, 3)
    (1.0, 0.556)
    """
    if not clusters or len(clusters) != len(stories):
        raise ValueError(f"{len(clusters)} clusters and {len(stories)} stories are of no items, or not of the same")
    in_cluster, in_story, in_both = Counter(clusters), Counter(stories), Counter(zip(clusters, stories, strict=True))
    sums: defaultdict[str, float] = defaultdict(float)
    for (cluster, story), count in in_both.items():
        sums["precision"] += count * count / in_cluster[cluster]
        sums["recall"] += count * count / in_story[story]
    return Agreement(sums["precision"] / len(clusters), sums["recall"] / len(stories))


def largest_purity(clusters: Sequence[Hashable], stories: Sequence[Hashable]) -> float:
    """The share of the largest cluster's items that are of its most frequent story; of equal clusters the worst.

    Examples
    --------
    >>> largest_purity([1, 1, 1, 2], ["a", "a", "b", "a"])
    0.6666666666666666
    """
    sizes = Counter(clusters)
    counts = defaultdict[Hashable, Counter[Hashable]](Counter)
    for cluster, story in zip(clusters, stories, strict=True):
        counts[cluster][story] += 1
    largest = max(sizes.values())
    return min(max(counts[cluster].values()) / size for cluster, size in sizes.items() if size == largest)
