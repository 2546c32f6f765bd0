"""Reads of summaries, and of the frequencies that they are made with."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from apps.database.statements import fetch, fetch_rows
from apps.postings import queries as postings
from apps.postings.algorithms.boilerplate import SourceBoilerplate, Strippers
from apps.postings.algorithms.words import language_of
from apps.postings.algorithms.words.languages import base_code
from apps.postings.models import Posting
from apps.postings.queries import PostingText
from apps.postings.queries.boilerplate import common, strippers
from apps.summaries.algorithms.outlines import Outline as Outlined
from apps.summaries.algorithms.outlines import outline
from apps.summaries.algorithms.start_table import start_table
from apps.summaries.algorithms.stories import story_summary
from apps.summaries.algorithms.texts import read
from apps.summaries.algorithms.vectors import Frequencies, unpack
from apps.summaries.models import Vocabulary


class StorySentence(NamedTuple):
    """A sentence of a story's summary and its posting."""

    posting_id: int
    text: str


class Shortened(NamedTuple):
    """The teaser and summaries of a posting."""

    teaser: str  # the feed's text, if the posting's text is that of its page; else empty
    outline: Outlined


def texts(posting_ids: Collection[int]) -> dict[int, PostingText]:
    """The texts of existing postings, each with its detected language. One query."""
    return {
        id: text._replace(language=language_of(f"{text.title}\n{text.text}", text.language))
        for id, text in postings.texts(posting_ids).items()
    }


def own_texts(found: Collection[PostingText]) -> dict[int, str]:
    """The texts without what their sources repeat. One query."""
    repeated = strippers({text.source_id for text in found})
    return {text.id: repeated.strip(text.source_id, text.text, text.title) for text in found}


# By language, the time of the count and its result: unpacking takes longer than summarizing.
_known: dict[str, tuple[datetime, Frequencies]] = {}


_COUNTED = "SELECT language, counted_at FROM summaries_vocabulary WHERE language = ANY(%s::text[])"


def frequencies_of(languages: Collection[str]) -> dict[str, Frequencies]:
    """How common terms are in each language: in the start table and in the portal's own postings. One query or two."""
    codes = {language: base_code(language) for language in languages}
    counted = dict(fetch(_COUNTED, [sorted(set(codes.values()))]))
    stale = [code for code, at in counted.items() if code not in _known or _known[code][0] != at]
    for row in Vocabulary.objects.filter(language__in=stale) if stale else ():
        own = unpack(bytes(row.terms), row.documents)
        _known[row.language] = (row.counted_at, start_table(row.language) + own)
    return {
        language: _known[code][1] if code in counted and code in _known else start_table(code)
        for language, code in codes.items()
    }


_SHORTENED = """
SELECT teaser.text AS teaser, outline.words, percent, places,
    (SELECT state FROM postings_boilerplate WHERE source_id = %(source)s AND outline.words IS NULL) AS repeated
FROM (SELECT %(posting)s::bigint AS id) posting
LEFT JOIN summaries_teaser teaser ON teaser.posting_id = posting.id
LEFT JOIN summaries_outline outline ON outline.posting_id = posting.id AND text_hash = %(text_hash)s
LEFT JOIN summaries_summary summary ON summary.posting_id = outline.posting_id ORDER BY percent
"""


def shortened(posting: Posting) -> Shortened:
    """The stored summaries of a posting, computed here if its text has changed since. One query, or up to four."""
    names = {"posting": posting.pk, "source": posting.source_id, "text_hash": bytes(posting.text_hash)}
    rows = fetch_rows(_SHORTENED, names, generic=True)
    teaser, words = rows[0].teaser or "", rows[0].words
    if words is None:
        return Shortened(teaser, _made(posting, rows[0].repeated))
    places = {row.percent: _pairs(row.places) for row in rows if row.percent is not None}
    return Shortened(teaser, Outlined(tuple(words), places))


def _made(posting: Posting, repeated: bytes | None) -> Outlined:
    declared = posting.language or posting.source.language
    language = language_of(f"{posting.title}\n{posting.text}", declared)
    known = {posting.source_id: SourceBoilerplate.parse(repeated)} if repeated is not None else {}
    own = Strippers(known, common()).strip(posting.source_id, posting.text, posting.title)
    return outline(posting.title, posting.text, language, frequencies_of([language])[language], own)


def _pairs(places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(places[::2], places[1::2], strict=True))


def summary_of_story(posting_ids: Sequence[int], words: int = 120) -> list[StorySentence]:
    """A summary of several postings without repetitions, in about `words` words. At most four queries.

    Sentences are in the order of the postings and of their texts. Postings in other languages than the first one are
    left out, since repetitions across languages are not detected.
    """
    found = texts(posting_ids)
    known = [found[id] for id in dict.fromkeys(posting_ids) if id in found]
    if not known:
        return []
    language = known[0].language
    alike = [each for each in known if each.language == language]
    own = own_texts(alike)
    read_texts = [read(each.text, language, each.title, own[each.id]) for each in alike]
    chosen = story_summary(read_texts, frequencies_of([language])[language], words)
    return [
        StorySentence(alike[each.text].id, alike[each.text].text[sentence.start : sentence.end])
        for each in chosen
        for sentence in (read_texts[each.text].sentences[each.sentence],)
    ]
