"""The only writers of summaries."""

from collections import Counter, defaultdict
from collections.abc import Collection
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import transaction

from apps.database.advisory_locks import take
from apps.database.outbox import consume_rows
from apps.database.statements import copy_rows, execute, records
from apps.postings.algorithms.words.languages import base_code
from apps.postings.queries import PostingText
from apps.summaries.algorithms.outlines import outline
from apps.summaries.algorithms.texts import read
from apps.summaries.algorithms.vectors import Frequencies, pack
from apps.summaries.models import Outline, Summary, Teaser, Vocabulary
from apps.summaries.queries import frequencies_of, own_texts, texts

CONSUMED_AT_ONCE = 200  # changes in one transaction: a second's work
COUNTED_POSTINGS = 30_000  # the newest
COUNTED_AT_ONCE = 500  # postings read at a time
MIN_COUNTED = 100  # postings per language; with fewer the start table is better
MAX_TERMS = 60_000  # kept per language

WRITING, COUNTING = 0x5355_4D01, 0x5355_4D02  # advisory locks, held until the end of a transaction


def consume(limit: int = CONSUMED_AT_ONCE, *, wait: bool = True) -> int | None:
    """Consume up to `limit` outbox rows and summarize postings whose text has changed; None if another worker does.

    Returns the number of consumed rows. Rows are deleted in the transaction that stores the summaries, which depend on
    the texts alone: repeating or killing it makes no difference.
    """
    return consume_rows("summaries_outboxrow", _summarize, lock=WRITING, limit=limit, wait=wait)


def _summarize(changes: list[Any]) -> None:
    posting_ids = sorted({change.posting_id for change in changes})
    now = texts(posting_ids)
    outlines = Outline.objects.filter(pk__in=posting_ids).only("text_hash", "language")
    known = {outlined.pk: (bytes(outlined.text_hash), outlined.language) for outlined in outlines}
    changed = [text for text in now.values() if known.get(text.id) != (text.text_hash, text.language)]
    _forget([id for id in posting_ids if id not in now], [text.id for text in changed if text.id in known])
    _write(changed)


def _forget(gone: Collection[int], former: Collection[int]) -> None:
    """Delete what there is of deleted postings, and the summaries of former texts."""
    if gone or former:
        Summary.objects.filter(posting_id__in=[*gone, *former]).delete()
        Outline.objects.filter(pk__in=gone).delete()
        Teaser.objects.filter(pk__in=gone).delete()


_WRITE = """
INSERT INTO summaries_outline (posting_id, text_hash, language, words)
SELECT posting_id, text_hash, language, words FROM json_populate_recordset(NULL::summaries_outline, %s)
ON CONFLICT (posting_id) DO UPDATE SET text_hash = excluded.text_hash, language = excluded.language,
    words = excluded.words
"""
_COPY = "COPY summaries_summary (posting_id, percent, places) FROM STDIN (FORMAT BINARY)"


def _write(changed: Collection[PostingText]) -> None:
    if not changed:
        return
    frequencies = frequencies_of({text.language for text in changed})
    own = own_texts(changed)
    outlined = {
        text.id: outline(text.title, text.text, text.language, frequencies[text.language], own[text.id])
        for text in changed
    }
    outlines = (
        {
            "posting_id": text.id,
            "text_hash": text.text_hash,
            "language": text.language,
            "words": outlined[text.id].words,
        }
        for text in changed
    )
    execute(_WRITE, [records(outlines)])
    summaries = (
        (posting_id, percent, list(chain.from_iterable(places)))
        for posting_id, found in outlined.items()
        for percent, places in found.summaries.items()
    )
    copy_rows(_COPY, ["int8", "int2", "int4[]"], summaries)


@transaction.atomic
def count_terms(now: datetime) -> dict[str, int] | None:
    """Count document frequencies of terms in the newest postings; None if another worker does.

    Returns the number of counted postings by language. Stored summaries are unchanged.
    """
    if not take(COUNTING, wait=False):
        return None
    documents, holding = Counter[str](), defaultdict[str, Counter[str]](Counter)
    posting_ids = list(Outline.objects.order_by("-pk").values_list("pk", flat=True)[:COUNTED_POSTINGS])
    for start in range(0, len(posting_ids), COUNTED_AT_ONCE):
        for text in texts(posting_ids[start : start + COUNTED_AT_ONCE]).values():
            language = base_code(text.language)
            documents[language] += 1
            holding[language].update(read(text.text, text.language, text.title).terms)
    counted = {each: Frequencies(count, holding[each]) for each, count in documents.items() if count >= MIN_COUNTED}
    Vocabulary.objects.exclude(language__in=list(counted)).delete()
    Vocabulary.objects.bulk_create(
        [
            Vocabulary(language=language, documents=each.documents, terms=pack(each, MAX_TERMS), counted_at=now)
            for language, each in counted.items()
        ],
        update_conflicts=True,
        unique_fields=["language"],
        update_fields=["documents", "terms", "counted_at"],
    )
    return {language: each.documents for language, each in counted.items()}
