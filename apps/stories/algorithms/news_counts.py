"""How many postings of general news have a term, for a portal that has not counted enough postings itself.

`manage.py make_news_counts` counted them in titles and descriptions of public feeds of 2023; only numbers of hashed
terms are kept. A language counts as 20,000 postings, which the portal's own postings outweigh in the end.
"""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import BUCKETS, Terms

DOCUMENTS = 20_000  # postings that a language counts as
TABLE = Path(__file__).with_name("news-2023.npz")


def news_counts(language: str, terms: Terms) -> tuple[int, NDArray[np.float64]]:
    """The number of postings a language counts as, 0 if it is not in the table, and those with each of the terms.

    >>> from apps.stories.algorithms.features import bucket_of
    >>> documents, (year, volcano) = news_counts("en", np.array([bucket_of("year", "en"), bucket_of("volcano", "en")]))
    >>> documents, bool(year > 50 * volcano)
    (20000, True)
    >>> news_counts("tlh", np.array([5]))
    (0, array([0.]))
    """
    counts = _tables().get(language)
    return (0, np.zeros(len(terms))) if counts is None else (DOCUMENTS, counts[terms].astype(np.float64))


@cache
def _tables() -> dict[str, NDArray[np.float32]]:
    found = {}
    with np.load(TABLE) as stored:
        for name in stored:
            language, _, kind = name.partition("_")
            if kind == "terms":
                counts = found[language] = np.zeros(BUCKETS, np.float32)
                counts[stored[name]] = stored[f"{language}_counts"] * (DOCUMENTS / stored[f"{language}_documents"])
    return found
