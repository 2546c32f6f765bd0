"""Texts of postings for the extraction of terms."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from apps.database.statements import fetch_as
from apps.postings.algorithms.boilerplate import Strippers
from apps.postings.algorithms.words import language_of
from apps.postings.queries.boilerplate import strippers
from apps.trending.algorithms.filters import unwanted_of
from apps.trending.algorithms.terms import MAX_LEAD_LENGTH, MAX_TITLE_LENGTH, Term, terms_of


class Text(NamedTuple):
    """The columns of a posting and its source that decide how it counts."""

    posting_id: int
    title: str
    text: str
    language: str  # ISO 639-1
    published_at: datetime
    source_id: int
    source_name: str
    category: str
    stop_regex: str

    def terms(self) -> list[Term]:
        """Its terms, without those excluded by its source's name and stop expression."""
        unwanted = unwanted_of(self.source_name, self.stop_regex, self.language)
        return terms_of(self.title, self.text, self.language, unwanted=unwanted)


_TEXTS = f"""
SELECT posting.id AS posting_id, left(posting.title, {MAX_TITLE_LENGTH}) AS title,
    left(posting.text, {MAX_LEAD_LENGTH}) AS text, coalesce(nullif(posting.language, ''), source.language) AS language,
    posting.published_at, source.id AS source_id, source.title AS source_name, source.category, source.stop_regex
FROM postings_posting posting JOIN sources_source source ON source.id = posting.source_id
WHERE posting.id = ANY(%s) AND source.listed
"""


def texts(posting_ids: Collection[int]) -> dict[int, Text]:
    """Those of the postings that are public, without boilerplate. Two queries."""
    found = fetch_as(Text, _TEXTS, [list(posting_ids)])
    repeated = strippers({text.source_id for text in found})
    return {text.posting_id: _own(text, repeated) for text in found}


def _own(text: Text, repeated: Strippers) -> Text:
    """A text without what its source repeats, and its language."""
    own = repeated.strip(text.source_id, text.text, text.title)
    return text._replace(text=own, language=language_of(f"{text.title} {own}", text.language)[:3])
