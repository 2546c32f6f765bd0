"""How far a term rises above its usual frequency: seasonal Poisson deviance, overdispersion, source diversity."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.words.languages import DOCUMENTS, general_counts
from apps.postings.algorithms.words.languages import language as language_rules

MIN_DOCUMENTS = 4
MIN_SOURCES = 3
PRIOR_POSTINGS = 50.0  # as which the prior share of a term counts
PRIOR_SHARE = 0.01  # of postings with a term, in a language without a table of general news
RARE_SHARE = 0.0005  # of postings with a term that general news hardly has
MIN_EXPECTED = 0.5  # documents
MAX_PAST_WINDOWS, MIN_PAST_WINDOWS = 14, 3


class Horizon(NamedTuple):
    """A time window over which terms rise, in steps of an hour, a day or a month.

    `seasons` are the distances of comparable former windows in steps, e.g. a week. Terms below `cut` are not shown.
    """

    name: str
    step: str
    window: int
    background: int
    seasons: tuple[int, ...]
    cut: float

    @property
    def past(self) -> int:
        """Steps before the window that scores use."""
        return max(self.background, *self.seasons, MAX_PAST_WINDOWS * self.window)


DAY, WEEK = 24, 168  # h
# Weekly events shift by hours, and a window of three hours is small, so its neighbours a week ago are seasons, too.
_LAST_WEEK = tuple(WEEK + hours for hours in range(-12, 13, 3))
HOUR_HORIZON = Horizon(
    "hour", "hour", 3, 7 * DAY, (*(DAY * n for n in range(1, 8)), *_LAST_WEEK, 2 * WEEK, 3 * WEEK), 1.8
)
DAY_HORIZON = Horizon("day", "hour", DAY, 28 * DAY, tuple(WEEK * n for n in range(1, 5)), 2.6)
WEEK_HORIZON = Horizon("week", "day", 7, 84, (7, 14, 21, 28), 3.0)
MONTH_HORIZON = Horizon("month", "day", 30, 365, (365,), 3.0)
YEAR_HORIZON = Horizon("year", "month", 12, 120, (12, 24, 36), 3.0)
HORIZONS = {each.name: each for each in (HOUR_HORIZON, DAY_HORIZON, WEEK_HORIZON, MONTH_HORIZON, YEAR_HORIZON)}


@dataclass(frozen=True, slots=True)
class Past:
    """Documents with each term, and all documents, in each step before a window, the latest last."""

    counts: NDArray[np.int64]  # (n_steps, n_terms)
    totals: NDArray[np.int64]  # (n_steps,)

    def __post_init__(self) -> None:
        if self.counts.shape[:1] != self.totals.shape:
            raise ValueError(f"counts of {self.counts.shape[:1]} steps do not fit totals of {self.totals.shape}")

    def only(self, terms: NDArray[np.int64]) -> "Past":
        """The past of some of the terms, by index."""
        return Past(self.counts[:, terms], self.totals)

    def last(self, steps: int) -> tuple[NDArray[np.int64], int]:
        """Sums over the last steps."""
        return self.counts[len(self.counts) - min(steps, len(self.counts)) :].sum(axis=0), int(
            self.totals[len(self.totals) - min(steps, len(self.totals)) :].sum()
        )

    def windows(self, length: int) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Sums over consecutive whole windows, the latest first."""
        for end in range(len(self.totals), length - 1, -length):
            yield self.counts[end - length : end].sum(axis=0), int(self.totals[end - length : end].sum())

    def window_ago(self, steps: int, length: int) -> tuple[NDArray[np.int64], int] | None:
        """Sums over the window that began some steps before the current one; None if that is not known."""
        begin = len(self.totals) - steps
        if begin < 0:
            return None
        return self.counts[begin : begin + length].sum(axis=0), int(self.totals[begin : begin + length].sum())


class Rise(NamedTuple):
    scores: NDArray[np.float64]  # (n_terms,), 0 for terms that do not rise
    expected: NDArray[np.float64]  # documents


def rise(
    counts: NDArray[np.int64],
    sources: NDArray[np.int64],
    held: NDArray[np.int64],
    total: int,
    past: Past,
    horizon: Horizon,
    prior: NDArray[np.float64] | float = PRIOR_SHARE,
) -> Rise:
    r"""How far terms rise above their usual frequency, in about standard deviations.

    With :math:`a` documents in the window where :math:`E` are expected, the signed root of the Poisson deviance is
    :math:`D = \sqrt{2 (a \ln (a/E) - (a - E))}`. It is divided by the root of the term's overdispersion relative to a
    Poisson process, and damped by :math:`\log_2(1 + S) / \log_2(1 + a')` for :math:`S` sources of :math:`a'` documents,
    so that one prolific source counts less than many.

    Parameters
    ----------
    counts : (n_terms,) ndarray of int
        Documents of the window with each term.
    sources, held : (n_terms,) ndarray of int
        Number of their sources, and number of documents from which these were counted: all, or a sample.
    total : int
        Documents of the window.
    past : Past
        Steps before the window for the same terms: `horizon.past`, or fewer if not available.
    horizon : Horizon
    prior : (n_terms,) ndarray of float
        Share of postings with each term in general news, from `prior_shares`. It counts as 50 postings.

    Returns
    -------
    Rise
        Scores are 0 for terms in fewer than 4 documents, of fewer than 3 sources, or not above what is expected.

    Notes
    -----
    The expected count is the maximum of those from the background and from the seasons' windows. A window is scaled as
    if it had at least a quarter of this one's documents.

    Examples
    --------
    >>> # The first term is always present, the second is new.
    >>> past = Past(np.tile([10, 0], (14, 1)), np.full(14, 100))
    >>> horizon = Horizon("day", "day", 1, 14, (7, 14), 3.0)
    >>> rise(np.array([11, 11]), np.array([8, 8]), np.array([11, 11]), 100, past, horizon).scores.round(1).tolist()
    [0.3, 6.1]
    """
    before, postings = past.last(horizon.background)
    expected = total * (before + PRIOR_POSTINGS * prior) / (postings + PRIOR_POSTINGS)
    for steps in horizon.seasons:
        if (season := past.window_ago(steps, horizon.window)) is not None:
            expected = np.maximum(expected, _scaled(*season, total))
    expected = np.maximum(expected, MIN_EXPECTED)
    rising = (counts >= MIN_DOCUMENTS) & (sources >= MIN_SOURCES) & (counts > expected)
    seen = np.maximum(counts, 1)
    deviance = 2 * (seen * np.log(seen / expected) - (seen - expected))
    scores = np.sqrt(np.maximum(deviance, 0.0) / _dispersion(past, total, horizon.window))
    scores *= np.log2(1 + sources) / np.log2(1 + np.maximum(held, 1))
    return Rise(np.where(rising, scores, 0.0), expected)


def prior_shares(keys: Sequence[str], language: str) -> NDArray[np.float64]:
    """(n_terms,) The share of postings with each term in general news: of a phrase, that of its rarest word.

    Parameters
    ----------
    keys : sequence of str
        Words separated by spaces.
    language : str
        ISO 639-1. Without a table of the language, all terms have the same share.

    Examples
    --------
    >>> prior_shares(["week", "york", "week of york", "merkel"], "en").round(3).tolist()
    [0.044, 0.015, 0.015, 0.0]
    >>> prior_shares(["week"], "tlh").tolist()
    [0.01]
    """
    general = general_counts(language)
    if not general:
        return np.full(len(keys), PRIOR_SHARE)
    stops = language_rules(language).stop_words
    counts = [min([general.get(word, 0) for word in key.split(" ") if word not in stops] or [0]) for key in keys]
    return np.maximum(np.array(counts, np.float64) / DOCUMENTS, RARE_SHARE)


def _scaled(counts: NDArray[np.int64], documents: int, total: int) -> NDArray[np.float64]:
    """Counts of another window scaled to `total` documents."""
    scaled: NDArray[np.float64] = counts.astype(np.float64) * (total / max(documents, total / 4, 1))
    return scaled


def _dispersion(past: Past, total: int, window: int) -> NDArray[np.float64] | float:
    """Variance divided by mean over the last windows, at least 1; 1 for too few windows."""
    scaled = []
    for counts, documents in past.windows(window):
        scaled.append(_scaled(counts, documents, total))
        if len(scaled) == MAX_PAST_WINDOWS:
            break
    if len(scaled) < MIN_PAST_WINDOWS:
        return 1.0
    values = np.array(scaled)
    ratio: NDArray[np.float64] = np.maximum(1.0, values.var(axis=0) / np.maximum(values.mean(axis=0), MIN_EXPECTED))
    return ratio
