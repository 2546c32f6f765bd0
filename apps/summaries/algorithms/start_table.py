"""Document frequencies of terms in news, for a portal that has not counted enough postings itself.

The table was counted by `manage.py make_start_table` in titles and descriptions of public feeds of 2023. Each language
counts as 1,000 documents, which the portal's own postings soon outweigh.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from apps.postings.algorithms.words.languages import base_code
from apps.summaries.algorithms.frequencies import Frequencies

DOCUMENTS = 1_000
TABLE = Path(__file__).with_name("start-202611.json")


def start_table(language: str) -> Frequencies:
    """Frequencies of a language in general news; empty for a language that the table does not know.

    >>> start_table("en-GB").share("year") > start_table("en").share("volcano")
    True
    >>> start_table("tlh")
    Frequencies(documents=0, holding={})
    """
    holding = _tables().get(base_code(language))
    return Frequencies(DOCUMENTS, holding) if holding else Frequencies()


@cache
def _tables() -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for language, by_number in json.loads(TABLE.read_text(encoding="utf-8")).items():
        found[language] = {term: int(number) for number, terms in by_number.items() for term in terms.split()}
    return found
