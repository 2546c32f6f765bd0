"""The choice of an article's blocks from the probability that each belongs to it: the winning run of neighbours."""

import re
from collections import Counter
from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.anchors import is_headline
from apps.postings.algorithms.extraction.blocks import TIME, Block, Place
from apps.postings.algorithms.extraction.cues import leads_elsewhere
from apps.postings.algorithms.extraction.features import around_headline, in_comments
from apps.postings.algorithms.extraction.words import EMBEDDED, OVERLAY, containers

SHINGLE = 4  # words

# Chinese and Japanese do not mark words: each character counts as one.
_WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)

Shingle = tuple[str, ...]


def words(text: str) -> list[str]:
    """
    >>> words("Mr. O'Neill's 2nd 北京")
    ['Mr', 'O', 'Neill', 's', '2nd', '北', '京']
    """
    return _WORD.findall(text)


def shingles(tokens: Sequence[str]) -> Counter[Shingle]:
    """The bag of runs of four words; a shorter text is one run.

    >>> sorted(shingles(["a", "b", "c", "d", "e"]))
    [('a', 'b', 'c', 'd'), ('b', 'c', 'd', 'e')]
    """
    if not tokens:
        return Counter()
    last = max(1, len(tokens) - SHINGLE + 1)
    return Counter(tuple(tokens[start : start + SHINGLE]) for start in range(last))


def f1(expected: Counter[Shingle], found: Counter[Shingle]) -> float:
    """The harmonic mean of precision and recall of two bags; 1 for two empty ones.

    >>> f1(shingles(["a", "b", "c", "d", "e"]), shingles(["a", "b", "c", "d"])) == 2 / 3
    True
    """
    both = expected.total() + found.total()
    return 2 * (expected & found).total() / both if both else 1.0


Probabilities = NDArray[np.float64]

THRESHOLD = 0.45
LOWER_THRESHOLD = 0.3  # where the first finds next to nothing
MAX_VOTE_LENGTH = 600  # characters: a longer block weighs no more in the choice of the run
GAP_WEIGHT = 0.5  # of unlikely blocks inside a run: captions and advertisements do not end an article
MIN_ELSEWHERE = 120  # characters of text outside of comments; with less the page may be a discussion
NEXT_TO_NOTHING = 250  # characters
MIN_ITEMS = 3
MAX_LEAD_LENGTH = 250  # characters of a line that leads elsewhere
MAX_LIST_TITLE_LENGTH = 80  # characters, of a list of such lines
MIN_PROSE = 60  # characters of a block
WHOLE = 0.8  # of a page's prose is all that an article may be expected to have
MIN_LONG_WORD = 5  # letters
MIN_REPEATED = 1_000  # characters of a run in which a block may hold several others once more

_HEADLINES = frozenset({"h1", "h2", "h3"})


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
    Where there is other text, comments count half and what lies over the page not at all. Posts embedded from other
    sites are as likely as what stands around them. The run of neighbours with the largest sum of
    min(size, 600) * (probability - 0.45) wins, gaps counting half; of it stay the blocks above 0.45 up to the next
    headline, without lines that lead elsewhere, a headline in front, and blocks that repeat several others. A page
    without any such run gives its best block.
    """
    if not blocks:
        return []
    sizes = np.array([block.size for block in blocks], dtype=np.float64)
    likely = _with_embedded(blocks, _without_asides(blocks, sizes, likely))
    run = _winner(sizes, likely, THRESHOLD)
    if sum(blocks[place].size for place in run) < NEXT_TO_NOTHING:
        run = _winner(sizes, likely, LOWER_THRESHOLD) or run
    run = _until_next_headline(blocks, run) or [int(np.argmax(sizes * likely))]
    run = _without_repetitions(blocks, run)
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


def share_of_prose(blocks: Sequence[Block], run: Sequence[int], likely: Probabilities) -> float:
    """How much of a page's prose is in the run, 1 from four fifths on; comments, captions and overlays do not count."""
    prose = [block.good if block.size > MIN_PROSE and block.tag != "figcaption" else 0 for block in blocks]
    sizes = np.where(likely > 0, np.maximum(prose, 0.0), 0.0)
    found = sizes[list(run)].sum()
    if found < WHOLE * sizes.sum():
        sizes[in_comments(blocks) | _within(blocks, OVERLAY, exempt=around_headline(blocks))] = 0
    return float(min(1.0, found / max(1.0, WHOLE * sizes.sum())))


def _winner(sizes: NDArray[np.float64], likely: Probabilities, threshold: float) -> list[int]:
    votes = np.minimum(sizes, MAX_VOTE_LENGTH) * (likely - threshold)
    first, last = best_run(np.where(votes < 0, GAP_WEIGHT * votes, votes).tolist())
    return [place for place in range(first, last) if likely[place] >= threshold]


def _without_asides(blocks: Sequence[Block], sizes: NDArray[np.float64], likely: Probabilities) -> Probabilities:
    overlays = _within(blocks, OVERLAY, exempt=around_headline(blocks))
    return _lessened(_lessened(likely, sizes, overlays, 0.0), sizes, in_comments(blocks), 0.5)


def _lessened(
    likely: Probabilities, sizes: NDArray[np.float64], these: NDArray[np.bool_], factor: float
) -> Probabilities:
    votes = np.minimum(sizes, MAX_VOTE_LENGTH) * np.maximum(0.0, likely - THRESHOLD)
    if not these.any() or votes[~these].sum() <= MIN_ELSEWHERE:
        return likely
    return np.where(these, factor * likely, likely)


def _with_embedded(blocks: Sequence[Block], likely: Probabilities) -> Probabilities:
    embedded = _within(blocks, EMBEDDED)
    if not embedded.any():
        return likely
    around = np.concatenate([[0.0], np.where(embedded, np.nan, likely), [0.0]])
    index = np.arange(len(around))
    there = ~np.isnan(around)
    before = around[np.maximum.accumulate(np.where(there, index, 0))]
    after = around[np.minimum.accumulate(np.where(there, index, len(around) - 1)[::-1])[::-1]]
    result: Probabilities = np.where(embedded, (before + after)[1:-1] / 2, likely)
    return result


def _within(blocks: Sequence[Block], kind: int, *, exempt: Set[Place] = frozenset()) -> NDArray[np.bool_]:
    """Which blocks are within a container of a kind."""
    known: dict[Place | None, bool] = {None: False}

    def is_within(place: Place | None) -> bool:
        if place is not None and place not in known:
            own = place.outer is not None and place not in exempt and kind in containers(place.names)
            known[place] = own or is_within(place.outer)
        return known[place]

    return np.array([is_within(block.place) for block in blocks], dtype=np.bool_)


def _until_next_headline(blocks: Sequence[Block], run: list[int]) -> list[int]:
    """The run up to where another article begins, as pages append them while the reader scrolls."""
    before = [block for block in blocks[: run[0] + 1] if block.tag in _HEADLINES] if run else []
    subheadings = {block.signature for block in blocks if block.tag == "h1" and not is_headline(block.text)}
    size = 0
    for place in range(run[0], run[-1] + 1) if before else ():
        block = blocks[place]
        timed = any(each.markup & TIME for each in blocks[place + 1 : place + 3])
        if size >= NEXT_TO_NOTHING and _begins_another(before[-1], block, timed, block.signature in subheadings):
            return [each for each in run if each < place]
        size += block.size if place in run else 0
    return run


def _begins_another(headline: Block, block: Block, timed: bool, is_subheading: bool) -> bool:
    """Whether a block stands in another <article> than the headline, or is a headline of the same kind.

    Of the first order it must be about something else, and all of these be as long as headlines, since some write
    subheadings so; of a lower order it must be in another element, and followed by a time.
    """
    own, other = (each.place.nearest("article", {}) for each in (headline, block))
    if own and other and own not in other.outwards() and other not in own.outwards():
        return True
    if block.signature != headline.signature or block.text == headline.text or not is_headline(block.text):
        return False
    if block.tag == "h1":
        return not is_subheading and not _long_words(block.text) & _long_words(headline.text)
    return timed and block.place.outer is not headline.place.outer


def _long_words(text: str) -> set[str]:
    return {word for word in words(text.lower()) if len(word) >= MIN_LONG_WORD}


def _without_repetitions(blocks: Sequence[Block], run: list[int]) -> list[int]:
    """The run without blocks that hold the text of several others once more, as some pages do for machines."""
    texts = {place: blocks[place].text for place in run}
    total = sum(map(len, texts.values()))
    for place in run:
        whole = blocks[place].text
        if 4 * len(whole) >= total > MIN_REPEATED:
            parts = [text for text in texts.values() if 2 * len(text) < len(whole) and text in whole]
            if len(parts) >= MIN_ITEMS and 2 * sum(map(len, parts)) >= len(whole):
                del texts[place]
    return list(texts)


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
        is_first = block.tag == "h1" and not kept
        if place in wanted and not is_first and any(map(str.isalnum, block.text)):
            kept.append(place)
    return kept
