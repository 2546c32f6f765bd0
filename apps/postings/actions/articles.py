"""Postings with the text of their own pages: of sites without feeds, and of feeds with teasers only."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from apps.postings.actions.duplicates import Dated, fold, note_copies_later, remember
from apps.postings.actions.storing import Document, Learner, known_postings, store
from apps.postings.algorithms import identity
from apps.postings.algorithms.duplicates import article as compared
from apps.postings.algorithms.edits import text_hash
from apps.postings.algorithms.extraction.articles import Article
from apps.postings.algorithms.markup import clean
from apps.postings.algorithms.teasers import without_title
from apps.postings.models import Fingerprint, Posting
from apps.sources.formats.feed import ParsedEntry


class PageOfPosting(NamedTuple):
    """A fetched news page and its extracted article."""

    url: str  # where it was found: its own address, unless it names a better one
    article: Article
    document: bytes  # the hash of the raw page; empty if it is not kept
    received_at: datetime

    @property
    def address(self) -> str:
        return self.article.canonical_url or self.url

    @property
    def html(self) -> str:
        return without_title(self.article.html, self.article.title)


@transaction.atomic
def store_articles(source_id: int, pages: Sequence[PageOfPosting]) -> list[int | None]:
    """Store news pages of a site as its postings, each once; the ids of the pages' postings, None for empty pages.

    The caller holds the lock of the source's schedule, as for `store`.
    """
    if not pages:
        return []
    received_at = max(page.received_at for page in pages)
    entries = [_entry(page) for page in pages]
    document = Document(source_id, entries, address=pages[0].url, feed_link="", language="", received_at=received_at)
    store([document])
    ids = _ids(document)
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE postings_posting SET document = %s, extractor = %s WHERE id = %s",
            [(page.document, page.article.extractor, id) for page, id in zip(pages, ids, strict=True) if id],
        )
    return ids


def _entry(page: PageOfPosting) -> ParsedEntry:
    article = page.article
    return ParsedEntry(
        guid=page.address,
        link=page.address,
        title=article.title,
        summary=article.description,
        content=page.html,
        published=article.published,
        authors=article.authors,
        language=article.language,
        image_url=article.image_url,
    )


def _ids(document: Document) -> list[int | None]:
    keys = identity.keys(document.entries)
    known = known_postings([document], [keys])[document.source_id]
    by_identity = {posting.identity: posting.id for posting in known}
    by_link = {posting.link_key: posting.id for posting in known if posting.link_key}
    return [
        next((by_identity[key] for key in entry.candidates if key in by_identity), by_link.get(entry.link_key))
        for entry in keys
    ]


@transaction.atomic
def fill(posting_id: int, page: PageOfPosting) -> bool:
    """Replace the teaser of a posting by the text of its page; False if that is not longer.

    Fields missing in the feed are filled from the page, too. This is not an edit by the publisher.
    """
    sources = Posting.objects.filter(pk=posting_id).values_list("source_id", flat=True)
    learner = Learner(list(sources))
    posting = Posting.objects.select_for_update().filter(pk=posting_id).first()
    if posting is None:
        return False
    article = page.article
    markup = clean(page.html, base_url=page.url)
    own_html = posting.feed_html if posting.extractor else posting.html
    # A former extraction is always replaced: the extractor may have changed.
    if not posting.extractor and len(markup.text) <= len(posting.text):
        return False
    title = posting.title or article.title
    learner.observe(posting.source_id, title, markup.text, page.received_at)
    learner.save()
    stripped = learner.strip(posting.source_id, title, markup.text)
    dated = Dated(compared(title, stripped, posting.url if posting.link_key else ""), posting.published_at)
    [folded] = fold([dated], exclude=[posting_id])
    Fingerprint.objects.filter(pk=posting_id).delete()
    remember([(posting_id, folded)])
    keys = (posting.fold_key, folded.key)
    note_copies_later(((key, posting.published_at) for key in keys), [(posting_id, folded)])
    Posting.objects.filter(pk=posting_id).update(
        lead=learner.lead(posting.source_id, title, markup, stripped),
        fold_key=folded.key,
        first_copy=posting.first_copy if folded.key == posting.fold_key else None,
        html=markup.html,
        text=markup.text,
        text_hash=text_hash(title, markup.text),
        title=title,
        author=posting.author or ", ".join(article.authors),
        image_url=posting.image_url or article.image_url or markup.image_url,
        language=posting.language or article.language[:20],
        document=page.document or posting.document,
        extractor=article.extractor,
        feed_html=own_html,
    )
    return True
