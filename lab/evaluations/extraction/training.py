"""Learning a model's weights from pages with known text: labels, weights of blocks, and a logistic regression."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from apps.postings.algorithms.extraction.blocks import Block
from apps.postings.algorithms.extraction.choosing import SHINGLE, shingles, words
from apps.postings.algorithms.extraction.features import NAMES, Rows, features
from apps.postings.algorithms.extraction.keen import Model

STRENGTH = 0.1  # of the data against the penalty of large weights, C
MAX_STEPS = 200
MIN_WEIGHT = 0.02  # smaller ones are left out of the model
MIN_WORDS = 8  # of a block that is labelled by its shingles; shorter ones must stand in the text as a whole
MIN_WORDS_ANYWHERE = 5  # of a block that may stand inside a line of the text
COVERED = 0.7  # of a block's place in the text, when other blocks at the right place stand there
SAME_PLACE = 4  # words that two blocks may overlap in the text
MAX_PLACES = 40  # in the text that a short block is tried at

# Copies of every page without what is a site's own profile, so that the model does not rest on class names or on <p>.
_OF_TAGS = tuple(place for place, name in enumerate(NAMES) if name.startswith(("t_", "p_")))
_OF_WORDS = tuple(place for place, name in enumerate(NAMES) if name == "inbody" or re.match(r"g\d_", name))
_WITHOUT = ((), _OF_WORDS, _OF_TAGS, _OF_WORDS + _OF_TAGS)


@dataclass(frozen=True, slots=True)
class Example:
    """A training page as numbers."""

    rows: Rows  # (n, m): `features` of its blocks
    labels: Rows  # (n,): how much of each block belongs to the article, 0 to 1
    sizes: Rows  # (n,)
    domain: str  # registrable domain, or any other name that its like have in common
    trust: float = 1.0  # in its labels


def example(blocks: Sequence[Block], text: str, *, domain: str, trust: float = 1.0) -> Example:
    """A page's blocks beside the text of its article."""
    sizes = np.array([block.size for block in blocks], dtype=np.float64)
    return Example(features(blocks), labels([block.text for block in blocks], text), sizes, domain, trust)


def learn(examples: Sequence[Example], *, version: str, sets: Sequence[str], domains: Sequence[str]) -> Model:
    """Fit the weights by L-BFGS: logistic regression on soft labels with a quadratic penalty.

    Parameters
    ----------
    examples : sequence of Example
        Every domain counts as the square root of its number of pages, every page by the square roots of its blocks'
        shares of the article.
    version : str
        The model's name.
    sets, domains : sequence of str
        Where the pages come from.

    Raises
    ------
    ValueError
        If there are no blocks to learn from.
    """
    pages = [each for each in examples if len(each.labels)]
    if not pages:
        raise ValueError("There are no pages with text to learn from.")
    times = Counter(page.domain for page in pages)
    rows = np.concatenate([page.rows for page in pages])
    wanted = np.concatenate([page.labels for page in pages])
    weight = np.concatenate([_block_weights(page) / np.sqrt(times[page.domain]) for page in pages])
    weight *= STRENGTH / weight.mean() / len(_WITHOUT)
    solution = _fitted(rows, wanted, weight)
    found = np.where(np.abs(solution[:-1]) >= MIN_WEIGHT, np.round(solution[:-1], 3), 0.0)
    return Model(version, round(float(solution[-1]), 3), found, tuple(sets), frozenset(domains))


def written(model: Model) -> dict[str, object]:
    """The model as an object for JSON, as `keen.read_model` reads it."""
    weights = {name: weight for name, weight in zip(NAMES, model.weights.tolist(), strict=True) if weight}
    return {
        "version": model.version,
        "sets": list(model.sets),
        "domains": sorted(model.domains),
        "intercept": model.intercept,
        "weights": weights,
    }


def _block_weights(page: Example) -> Rows:
    article = max(1.0, float(page.sizes @ page.labels))
    result: Rows = page.trust * np.sqrt(np.minimum(1.0, page.sizes / article))
    return result


def _fitted(rows: Rows, wanted: Rows, weight: Rows) -> Rows:
    def loss(solution: Rows) -> tuple[float, Rows]:
        weights, intercept = solution[:-1], solution[-1]
        gradient = np.append(weights, 0.0)
        total = 0.5 * float(weights @ weights)
        for without in _WITHOUT:
            kept = weights.copy()
            kept[list(without)] = 0.0
            score = rows @ kept + intercept
            total += float(weight @ (np.logaddexp(0.0, score) - wanted * score))
            error = weight * (1 / (1 + np.exp(-score)) - wanted)
            share = error @ rows
            share[list(without)] = 0.0
            gradient[:-1] += share
            gradient[-1] += error.sum()
        return total, gradient

    start = np.zeros(rows.shape[1] + 1)
    result: Rows = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS}).x
    return result


@dataclass(frozen=True, slots=True)
class _Match:
    """Where in the article's text a block may stand."""

    block: int
    start: int  # in words
    end: int
    weight: float


def labels(texts: Sequence[str], article: str) -> Rows:
    """How much of each block's text belongs to the article, 0 to 1; (n,) ndarray.

    A block of 8 words or more has the share of its shingles that stand in the article; a shorter one is wholly in it or
    not. What stands on the page twice, as teasers do, counts only where the order of the article has it.

    >>> story = "The council voted on Tuesday to keep the old bridge open to walkers."
    >>> labels([story, "Council", "Council", story], "Council\\n" + story).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    expected = words(article)
    lines = {" ".join(words(line)) for line in article.splitlines()}
    whole = f" {' '.join(expected)} "
    bag = shingles(expected)
    found = np.zeros(len(texts))
    tokens = [words(text) for text in texts]
    for place, text in enumerate(tokens):
        joined = " ".join(text)
        if len(text) >= MIN_WORDS:
            own = shingles(text)
            found[place] = (own & bag).total() / own.total()
        elif text:
            inside = len(text) >= MIN_WORDS_ANYWHERE and f" {joined} " in whole
            found[place] = float(joined in lines or inside)
    for place in _misplaced(list(_matches(tokens, expected)), len(expected)):
        if found[place] >= 0.5:
            found[place] = 0.0
    return found


def _matches(tokens: Sequence[Sequence[str]], expected: Sequence[str]) -> Iterator[_Match]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    runs: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, word in enumerate(expected):
        places[word].append(place)
        runs[tuple(expected[place : place + SHINGLE])].append(place)
    for block, text in enumerate(tokens):
        length = len(text)
        if length >= MIN_WORDS:
            # Every common shingle votes for the place where the block would have to begin.
            votes: Counter[int] = Counter()
            for offset in range(length - SHINGLE + 1):
                for place in runs.get(tuple(text[offset : offset + SHINGLE]), ())[:5]:
                    votes[max(0, place - offset)] += 1
            for start, number in votes.most_common(3):
                yield _Match(block, start, start + length, float(number))
        elif text:
            begins = places.get(text[0], ())
            starts = [place for place in begins if list(expected[place : place + length]) == list(text)]
            for start in starts[:MAX_PLACES]:
                yield _Match(block, start, start + length, float(length))


def _misplaced(matches: list[_Match], length: int) -> set[int]:
    """Blocks outside of the heaviest chain of matches in the order of page and article, whose text others have."""
    if not matches:
        return set()
    matches.sort(key=lambda match: (match.block, match.start))
    chain = _heaviest_chain(matches)
    covered = np.zeros(length + 1, dtype=np.bool_)
    for match in chain:
        covered[match.start : match.end] = True
    others: defaultdict[int, list[float]] = defaultdict(list)
    in_order = {match.block for match in chain}
    for match in matches:
        if match.block not in in_order:
            span = covered[match.start : match.end]
            others[match.block].append(float(span.mean()) if len(span) else 0.0)
    return {block for block, shares in others.items() if min(shares) > COVERED}


def _heaviest_chain(matches: Sequence[_Match]) -> list[_Match]:
    block = np.array([match.block for match in matches])
    start = np.array([match.start for match in matches])
    end = np.array([match.end for match in matches])
    best = np.zeros(len(matches))
    before = np.full(len(matches), -1)
    for place, match in enumerate(matches):
        fits = (block[:place] < match.block) & (end[:place] <= match.start + SAME_PLACE + MIN_WORDS)
        fits &= start[:place] < match.start
        best[place] = match.weight
        if fits.any():
            before[place] = int(np.where(fits, best[:place], -1.0).argmax())
            best[place] += best[before[place]]
    chain, place = [], int(best.argmax())
    while place >= 0:
        chain.append(matches[place])
        place = int(before[place])
    return chain[::-1]
