"""Storing the entries of documents as postings, each once, with edits."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from apps.database.statements import copy_rows, execute, fetch, fetch_rows, query, records
from apps.postings.actions.duplicates import Dated, fold, note_copies_later, remember
from apps.postings.algorithms import identity
from apps.postings.algorithms.boilerplate import SourceBoilerplate, Strippers
from apps.postings.algorithms.dates import EffectiveDate, effective, written_offset
from apps.postings.algorithms.duplicates import article
from apps.postings.algorithms.edits import text_hash
from apps.postings.algorithms.identity import ChangedPosting, Decision, EntryKeys, KnownPosting, NewPosting, decide
from apps.postings.algorithms.markup import CleanMarkup, clean
from apps.postings.algorithms.plain import read
from apps.postings.algorithms.trackers import without_tracking
from apps.postings.models import Edition
from apps.postings.queries.boilerplate import common, states
from apps.sources.formats.feed import ParsedEntry

LEAD = 400  # characters; lists show fewer

_SAVE = """
INSERT INTO postings_boilerplate (source_id, state, keys)
SELECT source_id, state, keys FROM json_populate_recordset(NULL::postings_boilerplate, %s)
ON CONFLICT (source_id) DO UPDATE SET state = excluded.state, keys = excluded.keys
"""


class Learner:
    """What some sources repeat, with rows locked until the transaction ends.

    Locks these rows before postings are locked. A posting that is learned twice counts once.
    """

    def __init__(self, source_ids: Collection[int]) -> None:
        self._sources = states(source_ids, lock=True)
        self._changed: set[int] = set()
        self._common = common()

    def observe(self, source_id: int, title: str, text: str, at: datetime) -> None:
        self._sources.setdefault(source_id, SourceBoilerplate()).observe(text, at.timestamp(), title)
        self._changed.add(source_id)

    def strip(self, source_id: int, title: str, text: str) -> str:
        return Strippers(self._sources, self._common).strip(source_id, text, title)

    def lead(self, source_id: int, title: str, markup: CleanMarkup, stripped: str) -> str | None:
        """What excerpts of a posting show: None if that is what its text begins with.

        `stripped` is its text without boilerplate.
        """
        prose = stripped if markup.prose == markup.text else self.strip(source_id, title, markup.prose)
        return None if prose[:LEAD] == markup.text[:LEAD] else prose[:LEAD]

    def save(self) -> None:
        changed = [(source_id, self._sources[source_id]) for source_id in sorted(self._changed)]
        rows = ({"source_id": id, "state": known.serialize(), "keys": known.keys()} for id, known in changed)
        execute(_SAVE, [records(rows)])


EDITIONS_KEPT = 20  # of a posting; some publishers touch a posting at every retrieval


class Document(NamedTuple):
    """The entries of one retrieval of a source."""

    source_id: int
    entries: Sequence[ParsedEntry]
    address: str  # links are relative to it
    feed_link: str  # the page of the feed itself, which does not identify a posting
    language: str
    received_at: datetime


class Stored(NamedTuple):
    new: int
    edited: int
    published: tuple[datetime, ...] = ()  # of the new ones, those dates that can be trusted


@transaction.atomic
def store(documents: Sequence[Document]) -> list[Stored]:
    """Store new postings of documents, each once, and edits of known ones.

    The caller holds the lock of each source's schedule, as documents of one source must not be stored concurrently.
    """
    keys = [identity.keys(document.entries, feed_link=document.feed_link) for document in documents]
    known = known_postings(documents, keys)
    decisions = [decide(entries, known[document.source_id]) for document, entries in zip(documents, keys, strict=True)]
    pairs = zip(documents, decisions, strict=True)
    learner = Learner({document.source_id for document, each in pairs if each.new or each.changed})
    new = _insert(documents, decisions, learner)
    edited = _update(documents, decisions, learner)
    learner.save()
    return [Stored(len(dates), edits, tuple(filter(None, dates))) for dates, edits in zip(new, edited, strict=True)]


_KNOWN = " UNION ".join(
    f"""
SELECT posting.source_id, posting.id, posting.identity, posting.link_key, posting.content_hash
FROM unnest(%s::bigint[], %s::bytea[]) wanted(source_id, key)
JOIN postings_posting posting ON posting.source_id = wanted.source_id AND {condition}
"""
    for condition in ("posting.identity = wanted.key", "posting.link_key = wanted.key AND posting.link_key <> ''")
)


def known_postings(documents: Sequence[Document], keys: Sequence[Sequence[EntryKeys]]) -> dict[int, list[KnownPosting]]:
    """Stored postings that share an identity or a link with an entry, by source. One query."""
    identities: set[tuple[int, bytes]] = set()
    links: set[tuple[int, bytes]] = set()
    for document, entries in zip(documents, keys, strict=True):
        for entry in entries:
            identities.update((document.source_id, key) for key in entry.candidates if key)
            if entry.link_key:
                links.add((document.source_id, entry.link_key))
    found: dict[int, list[KnownPosting]] = defaultdict(list)
    for row in fetch_rows(_KNOWN, [*_columns(identities), *_columns(links)]):
        known = KnownPosting(row.id, row.identity, row.link_key, row.content_hash)
        found[row.source_id].append(known)
    return found


def _columns(pairs: set[tuple[int, bytes]]) -> tuple[list[int], list[bytes]]:
    ordered = sorted(pairs)
    return [source_id for source_id, _ in ordered], [key for _, key in ordered]


# A constraint rejects what a concurrent transaction has stored; storing the documents again then finds it.
_COPY = """
COPY postings_posting (id, lead, fold_key, source_id, identity, link_key, content_hash, text_hash, guid, url, title,
    author, html, text, language, categories, image_url, comments_url, enclosures, published_at, claimed_at, utc_offset,
    retrieved_at) FROM STDIN (FORMAT BINARY)
"""
_TYPES = [
    *("int8", "text", "int8", "int8", *["bytea"] * 4, *["text"] * 7, "text[]", "text", "text", "jsonb"),
    *("timestamptz", "timestamptz", "int2", "timestamptz"),
]
_NUMBERS = """
SELECT nextval(pg_get_serial_sequence('postings_posting', 'id')) FROM generate_series(1, %s) ORDER BY 1
"""


class _New(NamedTuple):
    """A new posting before it is written."""

    document: Document
    posting: NewPosting
    markup: CleanMarkup
    date: EffectiveDate

    @property
    def words(self) -> tuple[int, str, str]:
        """Source, title and text."""
        return self.document.source_id, self.posting.entry.title, self.markup.text


def _insert(
    documents: Sequence[Document], decisions: Sequence[Decision], learner: Learner
) -> list[list[datetime | None]]:
    """Insert new postings with one statement; return the date of each, by document, None where it is not trusted."""
    new = [
        _read(document, posting, position)
        for document, decision in zip(documents, decisions, strict=True)
        for position, posting in enumerate(decision.new)
    ]
    inserted: dict[int, list[datetime | None]] = defaultdict(list)
    if new:
        for each in reversed(new):  # documents list the newest first
            learner.observe(*each.words, each.document.received_at)
        stripped = [learner.strip(*each.words) for each in new]
        folded = fold([_dated(each, text) for each, text in zip(new, stripped, strict=True)])
        ids = [id for (id,) in fetch(_NUMBERS, [len(new)])]
        rows = (
            (
                id,
                learner.lead(each.document.source_id, each.posting.entry.title, each.markup, text),
                found.key,
                *_row(each),
            )
            for id, each, text, found in zip(ids, new, stripped, folded, strict=True)
        )
        copy_rows(_COPY, _TYPES, rows)
        stored = list(zip(ids, folded, strict=True))
        note_copies_later(((each.key, each.dated.at) for each in folded), stored)
        remember(stored)
        for each in new:
            inserted[each.document.source_id].append(each.date.at if each.date.trusted else None)
    return [inserted[document.source_id] for document in documents]


def _read(document: Document, posting: NewPosting, position: int) -> _New:
    entry = posting.entry
    markup = clean(entry.content or entry.summary, base_url=entry.link or document.address)
    date = effective(entry.published or entry.updated, received=document.received_at, position=position)
    return _New(document, posting, markup, date)


def _dated(new: _New, stripped: str) -> Dated:
    entry = new.posting.entry
    return Dated(article(entry.title, stripped, entry.link if new.posting.link_key else ""), new.date.at)


def _row(new: _New) -> tuple[Any, ...]:
    document, posting, markup = new.document, new.posting, new.markup
    entry = posting.entry
    claimed = entry.published or entry.updated
    return (
        document.source_id,
        posting.identity,
        posting.link_key,
        posting.content_hash,
        text_hash(entry.title, markup.text),
        entry.guid,
        without_tracking(entry.link),
        entry.title,
        ", ".join(entry.authors),
        markup.html,
        markup.text,
        (entry.language or document.language)[:20],
        list(entry.categories),
        entry.image_url or markup.image_url,
        entry.comments_url,
        [asdict(enclosure) for enclosure in entry.enclosures],
        new.date.at,
        claimed,
        written_offset(claimed),
        document.received_at,
    )


def _update(documents: Sequence[Document], decisions: Sequence[Decision], learner: Learner) -> list[int]:
    """Store changed entries; if readers see a difference, keep the former text as an edition."""
    counts = []
    for document, decision in zip(documents, decisions, strict=True):
        counts.append(sum(_edit(document, change, learner) for change in decision.changed))
    return counts


def _edit(document: Document, change: ChangedPosting, learner: Learner) -> bool:
    entry = change.entry
    markup = clean(entry.content or entry.summary, base_url=entry.link or document.address)
    claimed = entry.published or entry.updated
    [old] = query("SELECT text_hash, extractor, html, text FROM postings_posting WHERE id = %s", [change.id])
    feed_html = markup.html if old.extractor else ""
    if old.extractor and len(old.text) > len(markup.text):  # the text of its page is longer
        markup = CleanMarkup(old.html, old.text, markup.image_url, read(old.html).prose)
    new_hash = text_hash(entry.title, markup.text)
    stripped = learner.strip(document.source_id, entry.title, markup.text)
    lead = learner.lead(document.source_id, entry.title, markup, stripped)
    edited = bytes(old.text_hash) != new_hash
    if edited:
        execute(
            "INSERT INTO postings_edition (posting_id, title, html, text, replaced_at)"
            " SELECT id, title, html, text, %s FROM postings_posting WHERE id = %s",
            [document.received_at, change.id],
        )
    execute(
        "UPDATE postings_posting SET title = %s, html = %s, text = %s, text_hash = %s, content_hash = %s,"
        " link_key = %s, url = %s, feed_html = %s, lead = %s,"
        " edited_at = CASE WHEN %s THEN %s ELSE edited_at END,"
        # The date stays the first one, so only an offset that was written with that very date belongs to it.
        " utc_offset = CASE WHEN claimed_at = %s THEN %s ELSE utc_offset END WHERE id = %s",
        [
            *(entry.title, markup.html, markup.text, new_hash, change.content_hash, change.link_key),
            *(without_tracking(entry.link), feed_html, lead),
            *(edited, document.received_at, claimed, written_offset(claimed), change.id),
        ],
    )
    if edited:
        _forget_old_editions(change.id)
    return edited


def _forget_old_editions(posting_id: int) -> None:
    kept = Edition.objects.filter(posting_id=posting_id).order_by("-id").values("id")[:EDITIONS_KEPT]
    Edition.objects.filter(posting_id=posting_id).exclude(id__in=list(kept.values_list("id", flat=True))).delete()
