"""The words of documents that their sources repeat in all postings."""

from collections import Counter
from collections.abc import Collection

from apps.database.statements import fetch_rows
from apps.postings.algorithms.words import analyse
from apps.postings.queries.boilerplate import strippers

_POSTINGS = """
SELECT number, document.language, posting.source_id, posting.title, posting.text
FROM search_document document JOIN postings_posting posting ON posting.id = posting_id WHERE number = ANY(%s)
"""


def boilerplate_terms(documents: Collection[int]) -> dict[int, Counter[str]]:
    """How often each term is boilerplate in a document, by its number; without documents that have none."""
    rows = fetch_rows(_POSTINGS, [list(documents)])
    known = strippers({row.source_id for row in rows})
    found = {row.number: (row.language, known.repeated(row.source_id, row.text, row.title)) for row in rows}
    return {number: Counter(analyse(text, language).terms) for number, (language, text) in found.items() if text}
