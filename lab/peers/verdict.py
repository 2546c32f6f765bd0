"""What a reader has stored, compared with what its feeds have shown."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lab.peers.sites import Key, key_of


class Stored(NamedTuple):
    """A posting as a reader has stored it."""

    feed: int
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class Verdict:
    published: int
    stored: int  # different postings that were published
    wrong_titles: int  # of these, those without any copy with the right title
    doubled: int  # copies of these beyond the first

    @property
    def lost(self) -> int:
        return self.published - self.stored


def judge(truth: Mapping[Key, str], stored: Iterable[Stored]) -> Verdict:
    """Compare the true titles of all postings with the stored ones.

    >>> judge({(1, 0): "a & b", (1, 1): "c"}, [Stored(1, "a &amp; b", "/1/item/1-0"), Stored(1, "", "/1/item/1-0")])
    Verdict(published=2, stored=1, wrong_titles=0, doubled=1)
    """
    titles: dict[Key, list[str]] = {}
    for posting in stored:
        key = key_of(posting.link)
        if key is not None and key in truth and key[0] == posting.feed:
            titles.setdefault(key, []).append(_plain(posting.title))
    wrong = sum(_plain(truth[key]) not in found for key, found in titles.items())
    return Verdict(len(truth), len(titles), wrong, sum(map(len, titles.values())) - len(titles))


def _plain(title: str) -> str:
    """Readers keep titles as HTML or as plain text; spaces do not matter."""
    return " ".join(html.unescape(title).split())
