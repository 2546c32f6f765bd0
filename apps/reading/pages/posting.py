"""One posting, whole."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow, Note, Share, Tag, Tagging
from apps.postings import queries as postings
from apps.postings.models import Edition, Posting
from apps.reading.algorithms.addresses import picture_address, web_address
from apps.reading.algorithms.differences import Change, word_changes
from apps.reading.pages.attachments import Attachment, attachments
from apps.reading.pages.stories import story_of_posting
from apps.reading.pages.summaries import SummaryPart, summary_part
from apps.reading.pictures import article_for, picture_for
from apps.stories.models import Story
from apps.summaries.algorithms.reading_time import reading_minutes

_SAMPLE = 20_000  # characters that tell how long it takes to read a text


@dataclass(frozen=True, slots=True)
class EarlierEdition:
    replaced_at: datetime
    title: str
    text: str
    changes: tuple[Change, ...] | None  # towards the edition that replaced it; None: too long to compare


@dataclass(frozen=True, slots=True)
class PostingPage:
    posting: Any  # a Posting with `unread`, `starred` and its source; its addresses lead to the web or are empty
    html: str  # of the posting, with its pictures as the person wishes
    image_url: str  # empty if there is none to show
    minutes: int  # to read it
    attachments: tuple[Attachment, ...]
    follow: Follow | None
    source_title: str
    delay: timedelta | None  # from the publication until it reached us, where that says how quick we were
    editions: tuple[EarlierEdition, ...]
    newer_id: int | None  # of the same source
    older_id: int | None
    summary: SummaryPart
    story: Story | None  # that it shares with others
    tags: tuple[Tag, ...]  # the person's own on it
    other_tags: tuple[Tag, ...]  # that they have
    note: Note | None  # the person's own
    share: Share | None  # likewise
    now: datetime


def posting_page(
    user: User | AnonymousUser, posting_id: int, now: datetime, percent: int | None = None
) -> PostingPage | None:
    """The page of a posting that the person may read, or None, with a summary of about so many percent.

    Fourteen queries, eleven for who is not signed in.
    """
    found = following.with_state(following.readable_by(user), user).select_related("source")
    posting = found.filter(pk=posting_id).first()
    if posting is None:
        return None
    _make_harmless(posting)
    follow = following.follow_of(user, posting.source_id)
    own_title = follow.title if follow else ""
    tags = _tags(user, posting)
    beside = postings.of_source(postings.everything(), posting.source_id)
    cursor = postings.cursor_of(posting)
    return PostingPage(
        posting=posting,
        html=article_for(user, _html(posting, follow), follow.images if follow else ""),
        image_url=picture_for(user, picture_address(posting.image_url), follow.images if follow else ""),
        minutes=reading_minutes(posting.text[:_SAMPLE], len(posting.text)),
        attachments=attachments(posting.enclosures, following.place_in(user, posting_id)),
        follow=follow,
        source_title=own_title or str(posting.source),
        delay=_delay(posting),
        editions=_editions(posting),
        newer_id=postings.oldest(postings.after(beside, cursor)).values_list("pk", flat=True).first(),
        older_id=postings.newest(postings.before(beside, cursor)).values_list("pk", flat=True).first(),
        summary=summary_part(posting, percent),
        story=story_of_posting(user, posting_id),
        tags=tuple(tag for tag, is_on in tags if is_on),
        other_tags=tuple(tag for tag, is_on in tags if not is_on),
        note=following.note_on(user, posting_id),
        share=following.share_of(user, posting_id),
        now=now,
    )


def _html(posting: Posting, follow: Follow | None) -> str:
    """The text of the posting's page where that was fetched, unless the person wants what the feed itself says."""
    if follow is not None and follow.full_text == Follow.FullText.FEED and posting.feed_html:
        return posting.feed_html
    return posting.html


def _make_harmless(posting: Posting) -> None:
    """What is stored was cleaned; here nothing else gets through either, whatever put it there."""
    posting.url, posting.comments_url = web_address(posting.url), web_address(posting.comments_url)


def _tags(user: User | AnonymousUser, posting: Posting) -> list[tuple[Tag, bool]]:
    """The person's tags, and whether the posting has them."""
    if not user.is_authenticated:
        return []
    is_on = Exists(Tagging.objects.filter(tag=OuterRef("pk"), posting=posting))
    return [(tag, tag.is_on) for tag in following.tags_of(user).annotate(is_on=is_on)]


def _delay(posting: Posting) -> timedelta | None:
    """Nothing for a posting that names no credible time, or was there before its source came to us."""
    if posting.claimed_at is None or posting.claimed_at > posting.retrieved_at:
        return None
    if posting.published_at < posting.source.added_at:
        return None
    return posting.retrieved_at - posting.published_at


def _editions(posting: Posting) -> tuple[EarlierEdition, ...]:
    later: Posting | Edition = posting
    editions = []
    for edition in postings.earlier_editions(posting.pk):
        changes = word_changes(f"{edition.title}\n{edition.text}", f"{later.title}\n{later.text}")
        editions.append(EarlierEdition(edition.replaced_at, edition.title, edition.text, changes))
        later = edition
    return tuple(editions)
