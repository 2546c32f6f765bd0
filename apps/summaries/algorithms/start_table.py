"""How common terms are in news, for a portal that has not read enough to know itself.

The table was counted by `manage.py make_start_table` in titles and descriptions of public feeds of 2023. Each language
of it counts as 1,000 documents: what the portal has read itself soon outweighs it.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from apps.postings.algorithms.words.languages import base_code
from apps.summaries.algorithms.frequencies import Frequencies

DOCUMENTS = 1_000
MIN_COUNTED = 2_000  # documents of a language; fewer tell nothing about it
MIN_COUNT = 2  # of 1,000 documents that hold a term; rarer ones are left out
TABLE = Path(__file__).with_name("start-202611.json")


def start_table(language: str) -> Frequencies:
    """Frequencies of a language in general news; empty for a language that the table does not know.

    >>> start_table("en-GB").share("said") > start_table("en").share("volcano")
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


def to_json(counted: Mapping[str, Frequencies]) -> str:
    """The table of what was counted, by language: terms by how many of 1,000 documents hold them."""
    tables = {}
    for language, frequencies in sorted(counted.items()):
        if frequencies.documents < MIN_COUNTED:
            continue
        by_number: dict[int, list[str]] = {}
        for term, number in frequencies.holding.items():
            thousandths = round(number * DOCUMENTS / frequencies.documents)
            if thousandths >= MIN_COUNT:
                by_number.setdefault(thousandths, []).append(term)
        tables[language] = {str(number): " ".join(sorted(by_number[number])) for number in sorted(by_number)}
    return json.dumps(tables, ensure_ascii=False, indent=0) + "\n"
