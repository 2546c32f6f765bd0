"""The page of a posting."""

from datetime import timedelta
from html import escape
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following.models import Follow
from apps.following.queries.posting_state import PostingState, posting_state
from apps.postings import queries as postings
from apps.postings.algorithms.players import player_of
from apps.postings.algorithms.teasers import is_teaser
from apps.postings.models import Edition, Posting
from apps.reading.algorithms.differences import word_changes
from apps.reading.pages.attachments import attachments
from apps.sources.algorithms.addresses import http_address
from apps.stories.queries.front import related_reports
from apps.summaries.algorithms.reading_time import reading_minutes
from apps.web.algorithms.addresses import picture_address
from apps.web.algorithms.articles import player_link
from apps.web.pages import Context
from apps.web.pages.icons import icon_address
from apps.web.pages.pictures import article_for, picture_for, recording_for
from apps.web.pages.summaries import summary_part

_RELATED = 3  # reports of the same story
_SAMPLE = 20_000  # characters from which the reading time is estimated


def posting_page(
    user: User | AnonymousUser,
    posting_id: int,
    percent: int | None = None,
    *,
    even_private: bool = False,
) -> Context | None:
    """The page of a posting that the user may read, or None, with a summary of about `percent` of the text.

    With `even_private` access is not checked: the caller has checked a permission, and logs it.

    Six queries, or a few more if the summary is not stored yet.
    """
    own = posting_state(user, posting_id)
    if own is None or not (own.readable or even_private):
        return None
    posting = _posting(posting_id, own)
    if posting is None:  # deleted a moment ago
        return None
    beside = postings.neighbours(posting)
    files = attachments(posting.enclosures, own.place, lambda address: recording_for(user, address, own.images))
    html = _html(posting, own.full_text, is_attached=any(file.player for file in files))
    return {
        "posting": posting,  # a Posting with `unread`, `starred`, its source, and only addresses on the web
        "html": article_for(user, html, own.images),  # with pictures according to the user's setting
        "image_url": picture_for(user, picture_address(posting.image_url), own.images),  # empty if none is shown
        "minutes": reading_minutes(posting.text[:_SAMPLE], len(posting.text)),  # reading time
        "attachments": files,
        "is_teaser": bool(posting.url) and not posting.extractor and is_teaser(posting.text),
        "was_unread": False,  # until now
        "own": own,  # the user's
        "source_title": own.source_title or str(posting.source),
        "icon": icon_address(posting.source.icon_id),
        "delay": _delay(posting),  # from publication to retrieval, if meaningful
        "editions": _editions(posting),
        "newer_id": beside.newer_id,  # of the same source
        "older_id": beside.older_id,
        "summary": summary_part(posting, percent),
        "related": related_reports(user, posting_id, _RELATED),  # of a story with other sources
    }


def _html(posting: Posting, full_text: str, *, is_attached: bool) -> str:
    """The extracted text, or the feed's own if the user prefers that, below the videos that the posting is about."""
    html = posting.feed_html if full_text == Follow.FullText.FEED and posting.feed_html else posting.html
    lengths: dict[str, int] = {}
    files = [(str(file.get("url") or ""), file.get("duration")) for file in posting.enclosures]
    for address, seconds in (("" if is_attached else posting.url, 0), *files):
        player = player_of(address)
        if player is not None and f'<figure><a href="{escape(player.page)}"' not in html:
            lengths[player.page] = seconds or lengths.get(player.page, 0)
    image = picture_address(posting.image_url)
    return "".join(player_link(page, posting.title, image, length) for page, length in lengths.items()) + html


def _posting(posting_id: int, own: PostingState) -> Any:
    """The posting; its addresses are checked again, although stored ones are already sanitized."""
    posting: Any = postings.with_source(posting_id)
    if posting is not None:
        posting.url, posting.comments_url = http_address(posting.url), http_address(posting.comments_url)
        posting.unread, posting.starred = own.unread, own.starred
    return posting


def _delay(posting: Posting) -> timedelta | None:
    """None without a credible date, or if published before the source was added."""
    if posting.claimed_at is None or posting.claimed_at > posting.retrieved_at:
        return None
    if posting.published_at < posting.source.added_at:
        return None
    return posting.retrieved_at - posting.published_at


def _editions(posting: Posting) -> tuple[Context, ...]:
    """Earlier ones with their changes to the next edition; None: too long to compare."""
    versions: list[Posting | Edition] = [posting, *postings.earlier_editions(posting.pk)]
    return tuple(
        {
            "edition": edition,
            "changes": word_changes(f"{edition.title}\n{edition.text}", f"{later.title}\n{later.text}"),
        }
        for later, edition in pairwise(versions)
    )
