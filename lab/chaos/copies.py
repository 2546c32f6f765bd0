"""Whether postings are folded as they may be: with true copies only, and with one if there is any.

Which of several copies a posting is folded with depends on the order of arrival: on what was known of the repeated text
of its source by then, which is not compared, on which copy came first, and on transactions at the same time, which do
not see each other's postings. So the groups of two runs need not be equal, but both have to be right.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

import numpy as np

from apps.postings.actions.duplicates import WITHIN
from apps.postings.algorithms.duplicates import ALIKE, Article

# Of what was stored, with the values and words by which its copies are found.
ROWS = """
SELECT posting.source_id || ' ' || encode(posting.identity, 'hex'), posting.fold_key, posting.published_at,
    CASE WHEN posting.link_key <> '' THEN posting.url ELSE '' END, known.values, known.words
FROM postings_posting posting LEFT JOIN postings_fingerprint known ON known.posting_id = posting.id ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Folded:
    """A posting and the key that it shares with its copies."""

    name: str
    key: int
    at: datetime  # published
    article: Article | None  # None: it is not known, and its copies are not found

    def is_copy_of(self, other: "Folded") -> bool:
        if self.article is None or other.article is None:
            return False
        return abs(self.at - other.at) <= WITHIN and self.article.is_copy_of(other.article)

    def is_found_by(self, other: "Folded") -> bool:
        """Whether it is a copy that shares a band: of those that are hardly alike enough one in seven does not."""
        return self.is_copy_of(other) and not self._bands.isdisjoint(other._bands)

    @property
    def _bands(self) -> set[int]:
        return set(self.article.bands) if self.article else set()


@dataclass(frozen=True, slots=True)
class Folding:
    """What is wrong with the groups of a run; names of postings, sorted."""

    unknown: list[str]  # whose copies would not be found
    foreign: list[str]  # in a group that true copies do not connect
    alone: list[str]  # with a copy that is found by a band, but folded with none
    copies: int  # postings that have one


def judge(postings: Sequence[Folded]) -> Folding:
    """Compare all postings with all others, which takes the square of their number."""
    members: defaultdict[int, list[Folded]] = defaultdict(list)
    for posting in postings:
        if posting.key:
            members[posting.key].append(posting)
    shared = {key: each for key, each in members.items() if len(each) > 1}
    with_copies = {name for pair in _pairs(postings) for name in pair}
    return Folding(
        unknown=sorted(posting.name for posting in postings if posting.key and posting.article is None),
        foreign=sorted(each.name for group in shared.values() if not _is_connected(group) for each in group),
        alone=sorted(each.name for each in postings if each.name in with_copies and each.key not in shared),
        copies=len(with_copies),
    )


def groups(postings: Sequence[Folded]) -> dict[str, frozenset[str]]:
    """The names of each posting's group."""
    names: defaultdict[int, set[str]] = defaultdict(set)
    for posting in postings:
        names[posting.key].add(posting.name)
    return {each.name: frozenset(names[each.key] if each.key else {each.name}) for each in postings}


def _is_connected(members: Sequence[Folded]) -> bool:
    reached, left = [members[0]], list(members[1:])
    for posting in reached:  # grows
        found = [other for other in left if posting.is_copy_of(other)]
        left = [other for other in left if other not in found]
        reached += found
    return not left


def _pairs(postings: Sequence[Folded]) -> Iterator[tuple[str, str]]:
    """All pairs of copies."""
    by_page: defaultdict[int, list[Folded]] = defaultdict(list)
    for posting in postings:
        if posting.article is not None and posting.article.page:
            by_page[posting.article.page].append(posting)
    for same in by_page.values():
        yield from ((one.name, other.name) for one, other in combinations(same, 2) if one.is_found_by(other))
    worded = [posting for posting in postings if posting.article is not None and posting.article.values.size]
    values = np.array([posting.article.values for posting in worded if posting.article is not None])
    for place, posting in enumerate(worded):
        alike = (values[place + 1 :] == values[place]).mean(axis=1) >= ALIKE
        for further in np.flatnonzero(alike):
            if posting.is_found_by(other := worded[place + 1 + further]):
                yield posting.name, other.name
