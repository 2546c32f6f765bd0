"""Document frequencies of terms in news, for a portal that has not counted enough postings itself.

Each language counts as 1,000 documents, which the portal's own postings soon outweigh.
"""

from apps.postings.algorithms.words.languages import DOCUMENTS, general_counts
from apps.summaries.algorithms.vectors import Frequencies


def start_table(language: str) -> Frequencies:
    """Frequencies of a language in general news; empty for a language that the table does not know.

    >>> start_table("en-GB").shares(["year", "volcano"]).round(3).tolist()
    [0.105, 0.0]
    >>> start_table("tlh")
    Frequencies(documents=0, holding={})
    """
    holding = general_counts(language)
    return Frequencies(DOCUMENTS, holding) if holding else Frequencies()
