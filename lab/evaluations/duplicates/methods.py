"""Ways to decide whether two postings are one article."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

import numpy as np

from apps.postings.algorithms.boilerplate import SourceBoilerplate
from apps.postings.algorithms.duplicates import Article, article
from apps.sources.algorithms.addresses import same_page_key
from lab.evaluations.duplicates.pairs import Carried, Pair
from lab.evaluations.duplicates.stripping import common_keys

NEAR = 3  # of 64 bits, as Manku et al. have it

Method = Callable[[Pair], bool]


def ours(pairs: Sequence[Pair], *, boilerplate: bool = True) -> Method:
    """Fingerprints without what sources repeat, which is learned from these postings."""
    known: dict[Carried, Article] = {}
    sources = defaultdict[str, SourceBoilerplate](SourceBoilerplate)
    postings = list(dict.fromkeys(each for pair in pairs for each in (pair.one, pair.other)))
    for posting in postings if boilerplate else ():
        sources[posting.source].observe(posting.text, 0.0, posting.title)
    common = common_keys(source.keys() for source in sources.values())
    for posting in postings:
        text = sources[posting.source].strip(posting.text, posting.title, common)
        known[posting] = article(posting.title, text, posting.url)

    def are_one(pair: Pair) -> bool:
        one, other = known[pair.one], known[pair.other]
        return bool(set(one.bands) & set(other.bands)) and one.is_copy_of(other)

    return are_one


def same_link(pair: Pair) -> bool:
    key = same_page_key(pair.one.url)
    return key != "" and key == same_page_key(pair.other.url)


def same_link_or_title(pair: Pair) -> bool:
    """As most readers fold articles."""
    return same_link(pair) or pair.one.title.casefold().split() == pair.other.title.casefold().split()


def simhash(pair: Pair) -> bool:
    """The same link, or SimHashes of runs of four words that differ in three of 64 bits at most.

    References
    ----------
    G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.
    """
    return same_link(pair) or (_bits(pair.one) ^ _bits(pair.other)).bit_count() <= NEAR


def _bits(posting: Carried) -> int:
    words = re.findall(r"\w+", f"{posting.title} {posting.text}".casefold())
    runs = {" ".join(words[place : place + 4]).encode() for place in range(max(1, len(words) - 3))}
    numbers = np.array([crc32(run) | crc32(run, 1) << 32 for run in runs], np.uint64)
    votes = (numbers[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).mean(axis=0)
    return sum(1 << place for place in np.flatnonzero(votes > 0.5).tolist())


def methods(pairs: Sequence[Pair]) -> Mapping[str, Method]:
    return {
        "ours": ours(pairs),
        "no_boilerplate": ours(pairs, boilerplate=False),
        "link": same_link,
        "link_or_title": same_link_or_title,
        "simhash": simhash,
    }
