"""Made-up readers, to see how soon their taste is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import features
from apps.stories.algorithms.taste import Item, Taste, item

FLIPPED = 0.1  # share of their clicks that are random
TESTED = 800  # postings
RUNNING = 8  # stories that the second kind of reader follows
TOP = 10


@dataclass(frozen=True, slots=True)
class Headline:
    title: str
    publisher: str
    category: str
    story: str


@dataclass(frozen=True, slots=True)
class Quality:
    auc: float
    precision_at_10: float


def items_of(headlines: Sequence[Headline]) -> list[Item]:
    """Words and publisher of each: neither its category nor its story, which define the readers."""
    numbers = {name: number for number, name in enumerate(sorted({each.publisher for each in headlines}), 1)}
    return [item(features(each.title, "", "en").terms, source=numbers[each.publisher]) for each in headlines]


def trial(
    headlines: Sequence[Headline], items: Sequence[Item], labels: int, *, by_category: bool, rng: np.random.Generator
) -> dict[str, Quality]:
    """How well models order postings for a reader after `labels` labelled ones: naive Bayes, Rocchio, and both.

    The reader likes one category, and is tested on stories that were not learnt from; or eight running stories, and is
    tested on other reports, of which half are of these.
    """
    order = rng.permutation(len(headlines))
    if by_category:
        stories = _by_category(headlines)
        wanted = str(rng.choice([category for category, own in stories.items() if len(own) > 1]))
        likes = np.array([each.category == wanted for each in headlines])
        seen = {story for own in stories.values() for story in rng.permutation(own)[: len(own) // 2].tolist()}
        known = np.array([each.story in seen for each in headlines])
        learn, test = order[known[order]], order[~known[order]]
    else:
        running = set(rng.permutation(sorted({each.story for each in headlines}))[:RUNNING].tolist())
        likes = np.array([each.story in running for each in headlines])
        half = len(order) // 2
        learn, test = _balanced(order[:half], likes, rng), order[half:]
    learn, test = learn[:labels], _balanced(test, likes, rng)[:TESTED]
    labelled = likes[learn] ^ (rng.random(len(learn)) < FLIPPED)
    taste = Taste()
    for place, liked in zip(learn, labelled, strict=True):
        taste.learn(items[place], 1.0 if liked else -1.0)
    return _qualities(taste, [items[place] for place in test], likes[test])


def _by_category(headlines: Sequence[Headline]) -> dict[str, list[str]]:
    """The stories of each category, both in order."""
    stories: dict[str, list[str]] = {}
    for category, story in sorted({(each.category, each.story) for each in headlines}):
        stories.setdefault(category, []).append(story)
    return stories


def _balanced(places: NDArray[np.int64], likes: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    liked, others = places[likes[places]], places[~likes[places]]
    size = min(len(liked), len(others))
    return rng.permutation(np.concatenate([liked[:size], others[:size]]))


def _qualities(taste: Taste, items: Sequence[Item], likes: NDArray[np.bool_]) -> dict[str, Quality]:
    bayes = np.array([taste.evidence(each).sum() for each in items])
    rocchio = np.array([taste.nearness(each) for each in items])
    both = (bayes - bayes.mean()) / bayes.std() + (rocchio - rocchio.mean()) / rocchio.std()
    return {
        name: Quality(auc(values, likes), float(likes[np.argsort(-values)[:TOP]].mean()))
        for name, values in (("bayes", bayes), ("rocchio", rocchio), ("both", both))
    }


def auc(scores: NDArray[np.float64], likes: NDArray[np.bool_]) -> float:
    """The probability that a liked posting scores more than another one, half of it for equal scores.

    >>> auc(np.array([0.9, 0.8, 0.1]), np.array([True, False, False]))
    1.0
    """
    ranks = np.searchsorted(np.sort(scores), scores, "left") + np.searchsorted(np.sort(scores), scores, "right") + 1
    liked, others = int(likes.sum()), int((~likes).sum())
    return float((ranks[likes].sum() / 2 - liked * (liked + 1) / 2) / (liked * others))
