"""ROUGE, as computed by the package rouge-score, and confidence intervals of differences.

References
----------
.. [1] C.-Y. Lin, "ROUGE: a package for automatic evaluation of summaries", 2004.
.. [2] P. Koehn, "Statistical significance tests for machine translation evaluation", EMNLP 2004 (paired bootstrap).
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer

from apps.postings.algorithms.words.scripts import SPACELESS

MEASURES = ("rouge1_f", "rouge2_f", "rougeLsum_f")
RESAMPLES = 2_000
_CHARACTERS_AND_WORDS = re.compile(rf"[{SPACELESS}]|[^\W{SPACELESS}]+")


class _Characters:
    """Chinese is compared by its characters."""

    def tokenize(self, text: str) -> list[str]:
        return _CHARACTERS_AND_WORDS.findall(text.lower())


class Rouge:
    """F1 of ROUGE-1, -2 and -Lsum. Sentences of the texts stand on lines of their own.

    Examples
    --------
    >>> Rouge("en").score("The cat sat.", "A cat was sitting.").round(3).tolist()
    [0.286, 0.0, 0.286]
    >>> Rouge("zh").score("中国队赢了", "中国赢").round(3).tolist()
    [0.75, 0.333, 0.75]
    """

    def __init__(self, language: str) -> None:
        tokenizer = DefaultTokenizer(use_stemmer=True) if language == "en" else _Characters()
        names = [name.removesuffix("_f") for name in MEASURES]
        self._scorer = RougeScorer(names, tokenizer=tokenizer)
        self._names = names

    def score(self, summary: str, reference: str) -> NDArray[np.float64]:
        found = self._scorer.score(reference, summary)
        return np.array([found[name].fmeasure for name in self._names])


def paired_bootstrap(differences: Sequence[float] | NDArray[np.float64], seed: int) -> tuple[float, float]:
    """The interval that holds 95 % of the means of resampled differences, one per document.

    Examples
    --------
    >>> low, high = paired_bootstrap([0.1, 0.2, 0.3, 0.2], seed=1)
    >>> 0.1 <= low < 0.2 < high <= 0.3
    True
    """
    values = np.asarray(differences, float)
    draws = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)
