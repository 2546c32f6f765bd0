"""How common terms are in news in general, for portals that have not counted enough themselves.

The table was counted by `manage.py make_start_table` in titles and descriptions of public feeds of 2023.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from apps.postings.algorithms.words.languages import base_code

DOCUMENTS = 1_000  # as which each language counts
TABLE = Path(__file__).with_name("general-202611.json")


def general_counts(language: str) -> Mapping[str, int]:
    """How many of 1,000 documents of a language hold each term; rare terms, and all of unknown languages, are missing.

    >>> general_counts("en-GB")["year"] > 100, "volcano" in general_counts("en"), general_counts("tlh")
    (True, False, {})
    """
    return _tables().get(base_code(language), {})


@cache
def _tables() -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for language, by_number in json.loads(TABLE.read_text(encoding="utf-8")).items():
        found[language] = {term: int(number) for number, terms in by_number.items() for term in terms.split()}
    return found
