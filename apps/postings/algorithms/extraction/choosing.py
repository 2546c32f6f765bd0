"""The choice of an article's blocks from the probability that each belongs to it: the winning run of neighbours."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.blocks import Block, Place
from apps.postings.algorithms.extraction.cues import leads_elsewhere
from apps.postings.algorithms.extraction.features import around_headline, in_comments
from apps.postings.algorithms.extraction.measures import Shingle, shingles, words

Probabilities = NDArray[np.float64]

THRESHOLD = 0.45
LOWER_THRESHOLD = 0.3  # where the first finds next to nothing
MAX_VOTE_LENGTH = 600  # characters: a longer block weighs no more in the choice of the run
GAP_WEIGHT = 0.5  # of unlikely blocks inside a run: captions and advertisements do not end an article
MIN_ELSEWHERE = 120  # characters of text outside of comments; with less the page may be a discussion
NEXT_TO_NOTHING = 250  # characters
GROUP_SHARE = 0.5  # of a list's or table's mean in the probability of its items
MIN_ITEMS = 3
MAX_ITEM_LENGTH = 100  # characters: a longer item weighs no more in that mean
MAX_LEAD_LENGTH = 250  # characters of a line that leads elsewhere
MAX_LIST_TITLE_LENGTH = 80  # characters, of a list of such lines
MIN_REPEATED = 60  # words of a block that holds several others once more

_GROUPS = frozenset({"ul", "ol", "dl", "table"})
_EMBEDDED = re.compile(
    r"\b(?:twitter-(?:tweet|video)|instagram-media|fb-post|tiktok-embed|(?:bluesky|mastodon)-embed)\b"
)
_CONSENT = re.compile(
    r"\b(?:onetrust|didomi|usercentrics|cmplz)|(?:cookie|consent|gdpr)[\w-]{0,20}?"
    r"(?:banner|bar|box|dialog|info|layer|law|manager|message|modal|notice|overlay|popup|wall)",
    re.IGNORECASE,
)


def chosen(blocks: Sequence[Block], likely: Probabilities) -> list[int]:
    """The places of the blocks that make the article, in order; none for a page without blocks.

    Parameters
    ----------
    blocks : sequence of Block
        All of a page, n of them.
    likely : (n,) ndarray
        How likely each belongs to the article.

    Notes
    -----
    Where there is other text, comments count half and questions about cookies not at all. Posts embedded from other
    sites are as likely as what stands around them, and items of a list or table as their list. The run of neighbours
    with the largest sum of min(size, 600) * (probability - 0.45) wins, gaps counting half; of it stay the blocks above
    0.45, without lines that lead elsewhere, a headline in front, and blocks that repeat several others. A page without
    any such run gives its best block.
    """
    if not blocks:
        return []
    sizes = np.array([block.size for block in blocks], dtype=np.float64)
    likely = _with_groups(blocks, _with_embedded(blocks, _without_asides(blocks, sizes, likely)))
    run = _winner(sizes, likely, THRESHOLD)
    if sum(blocks[place].size for place in run) < NEXT_TO_NOTHING:
        run = _winner(sizes, likely, LOWER_THRESHOLD) or run
    run = _without_repetitions(blocks, run or [int(np.argmax(sizes * likely))])
    return _without_remainders(blocks, run) or run


def best_run(votes: Sequence[float]) -> tuple[int, int]:
    """Start and end (exclusive) of the neighbouring numbers with the largest positive sum; (0, 0) if there are none.

    >>> best_run([-1.0, 2.0, -1.0, 3.0, -4.0, 3.5])
    (1, 4)
    """
    best, start, end = 0.0, 0, 0
    total, begin = 0.0, 0
    for place, vote in enumerate(votes):
        if total <= 0:
            total, begin = 0.0, place
        total += vote
        if total > best:
            best, start, end = total, begin, place + 1
    return start, end


def _winner(sizes: NDArray[np.float64], likely: Probabilities, threshold: float) -> list[int]:
    votes = np.minimum(sizes, MAX_VOTE_LENGTH) * (likely - threshold)
    first, last = best_run(np.where(votes < 0, GAP_WEIGHT * votes, votes).tolist())
    return [place for place in range(first, last) if likely[place] >= threshold]


def _without_asides(blocks: Sequence[Block], sizes: NDArray[np.float64], likely: Probabilities) -> Probabilities:
    consent = _named(blocks, _CONSENT, exempt=around_headline(blocks))
    return _lessened(_lessened(likely, sizes, consent, 0.0), sizes, in_comments(blocks), 0.5)


def _lessened(
    likely: Probabilities, sizes: NDArray[np.float64], these: NDArray[np.bool_], factor: float
) -> Probabilities:
    votes = np.minimum(sizes, MAX_VOTE_LENGTH) * np.maximum(0.0, likely - THRESHOLD)
    if not these.any() or votes[~these].sum() <= MIN_ELSEWHERE:
        return likely
    return np.where(these, factor * likely, likely)


def _with_embedded(blocks: Sequence[Block], likely: Probabilities) -> Probabilities:
    embedded = _named(blocks, _EMBEDDED)
    if not embedded.any():
        return likely
    around = np.concatenate([[0.0], np.where(embedded, np.nan, likely), [0.0]])
    index = np.arange(len(around))
    there = ~np.isnan(around)
    before = around[np.maximum.accumulate(np.where(there, index, 0))]
    after = around[np.minimum.accumulate(np.where(there, index, len(around) - 1)[::-1])[::-1]]
    result: Probabilities = np.where(embedded, (before + after)[1:-1] / 2, likely)
    return result


def _named(blocks: Sequence[Block], pattern: re.Pattern[str], *, exempt: Set[Place] = frozenset()) -> NDArray[np.bool_]:
    """Which blocks are within an element whose class or id matches."""
    known: dict[Place, bool] = {}
    return np.array([_is_named(block.place, pattern, exempt, known) for block in blocks], dtype=np.bool_)


def _is_named(place: Place | None, pattern: re.Pattern[str], exempt: Set[Place], known: dict[Place, bool]) -> bool:
    if place is None:
        return False
    if place not in known:
        element = place.element
        names = f"{(element.get('class') or '')[:200]} {(element.get('id') or '')[:200]}"
        own = place not in exempt and place.outer is not None and pattern.search(names) is not None
        known[place] = own or _is_named(place.outer, pattern, exempt, known)
    return known[place]


def _with_groups(blocks: Sequence[Block], likely: Probabilities) -> Probabilities:
    groups: defaultdict[Place, list[int]] = defaultdict(list)
    known: dict[Place, Place | None] = {}
    for position, block in enumerate(blocks):
        group = block.place.nearest(_GROUPS, known)
        if group is not None:
            groups[group].append(position)
    result = likely.copy()
    for members in groups.values():
        if len(members) >= MIN_ITEMS:
            weights = np.array([min(blocks[member].size, MAX_ITEM_LENGTH) for member in members])
            mean = likely[members] @ weights / weights.sum()
            result[members] = (1 - GROUP_SHARE) * likely[members] + GROUP_SHARE * mean
    return result


def _without_repetitions(blocks: Sequence[Block], run: list[int]) -> list[int]:
    """The run without blocks that hold the text of several others once more, as some pages do for machines."""
    if len(run) <= MIN_ITEMS:
        return run
    texts = {place: words(blocks[place].text) for place in run}
    large = [place for place in run if len(texts[place]) >= MIN_REPEATED]
    large.sort(key=lambda place: -len(texts[place]))
    total = sum(map(len, texts.values()))
    # Of most articles no block is long enough to hold much of the others.
    if not large or 3 * len(texts[large[0]]) < total - len(texts[large[0]]):
        return run
    bags: dict[int, Counter[Shingle]] = {place: shingles(text) for place, text in texts.items()}
    left = set(run)
    for place in large:
        length = len(texts[place])
        repeated = [
            len(texts[other])
            for other in left
            if other != place
            and 5 <= len(texts[other]) < length / 2
            and (bags[other] & bags[place]).total() >= 0.8 * bags[other].total()
        ]
        if len(repeated) >= MIN_ITEMS and sum(repeated) >= length / 2:
            left.discard(place)
    return [place for place in run if place in left]


def _without_remainders(blocks: Sequence[Block], run: list[int]) -> list[int]:
    """The run without the headline that it begins with, bare punctuation, and lines that lead elsewhere."""
    kept: list[int] = []
    in_list = False  # of links below "You may also like"
    wanted = set(run)
    for place in range(run[0], run[-1] + 1):
        block = blocks[place]
        linked = block.link_size / max(1, block.characters)
        if block.size < MAX_LEAD_LENGTH and leads_elsewhere(block.text):
            in_list = block.size < MAX_LIST_TITLE_LENGTH
            if in_list or linked > 0.2 or block.text.endswith((":", "...")):
                continue
        elif block.size < MAX_LEAD_LENGTH and linked > 0.9 and (in_list or (block.size > 15 and block.text.isupper())):
            continue
        else:
            in_list = False
        is_headline = block.tag == "h1" and not kept
        if place in wanted and not is_headline and any(map(str.isalnum, block.text)):
            kept.append(place)
    return kept
