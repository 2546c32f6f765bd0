"""Postings in lists."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.database.statements import MAX_ID, fetch_as
from apps.following.queries.copies import COPIES, AlsoIn, also_in, folds
from apps.following.queries.states import OWN, READABLE, STARRED, UNREAD
from apps.sources.algorithms.addresses import http_address
from apps.stories.queries.front import MIN_SOURCES
from apps.summaries.algorithms.reading_time import reading_minutes
from apps.web.algorithms.addresses import picture_address
from apps.web.pages.icons import icon_address
from apps.web.pages.pictures import picture_for, recording_for

EXCERPT = 320  # characters


@dataclass(frozen=True, slots=True)
class PostingRow:
    id: int
    url: str  # empty if it leads to no page of the web
    title: str
    excerpt: str
    characters: int  # of the whole text
    language: str
    image_url: str  # empty if none is shown
    source_id: int
    source_title: str
    story_id: int | None  # of a story with other sources
    published_at: datetime
    unread: bool  # this or, if lists are folded, the article
    starred: bool  # this or, if lists are folded, one of its copies
    own_tags: tuple[str, ...]  # the user's, by name
    images: str = ""  # the user's setting for the source
    also: tuple[AlsoIn, ...] = ()  # other feeds of the same article
    icon: str = ""  # address of the source's icon; empty if it has none
    audio: Mapping[str, Any] | None = None  # first recording: `number`, `address`, `seconds` or None

    @property
    def anchor(self) -> str:
        return str(self.id)

    @property
    def also_words(self) -> str:
        count = len(self.also)
        return ngettext("+%(count)s feed", "+%(count)s feeds", count) % {"count": count}

    @property
    def is_cut(self) -> bool:
        """Whether the text is longer than the excerpt."""
        return self.characters > len(self.excerpt)

    @property
    def minutes(self) -> int:
        """Reading time of the whole text."""
        return reading_minutes(self.excerpt, self.characters)


# Runs thousands of times a minute: raw SQL is prepared, and costs no query building.
_ROWS = f"""
SELECT posting.id, posting.url, posting.title, left(coalesce(posting.lead, posting.text), {EXCERPT}) AS excerpt,
    length(posting.text) AS characters, posting.language, posting.image_url, posting.source_id,
    coalesce(nullif(follow.title, ''), nullif(source.title, ''), source.url) AS source_title,
    (SELECT story.id FROM stories_member member JOIN stories_story story ON story.id = member.story_id
        WHERE member.posting_id = posting.id AND story.sources >= {MIN_SOURCES}) AS story_id,
    posting.published_at, ({UNREAD} OR %(folds)s AND copies.unread) AS unread,
    ({STARRED} OR %(folds)s AND copies.starred) AS starred,
    ARRAY(SELECT tag.name FROM following_tagging tagging JOIN following_tag tag ON tag.id = tagging.tag_id
        WHERE tagging.posting_id = posting.id AND tag.user_id = %(user)s ORDER BY tag.name) AS own_tags,
    coalesce(follow.images, '') AS images, coalesce(source.icon_id, '') AS icon, copies.also,
    CASE WHEN posting.enclosures <> '[]' THEN (
        SELECT jsonb_build_object('number', number - 1, 'address', file -> 'url', 'seconds', file -> 'duration')
        FROM jsonb_array_elements(posting.enclosures) WITH ORDINALITY AS files (file, number)
        WHERE starts_with(file ->> 'media_type', 'audio/') ORDER BY number LIMIT 1) END AS audio
FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS wanted (id, place)
JOIN postings_posting posting ON posting.id = wanted.id
{OWN}
{COPIES}
WHERE {READABLE}
ORDER BY wanted.place
"""


def rows(user: User | AnonymousUser, posting_ids: Collection[int]) -> list[PostingRow]:
    """Those of the postings that the user may read, in the given order. One query."""
    if not posting_ids:
        return []
    names = {"user": user.pk or 0, "ids": [id for id in posting_ids if id <= MAX_ID], "folds": folds(user)}
    return [_row(user, found) for found in fetch_as(PostingRow, _ROWS, names)]


def rows_by_id(user: User | AnonymousUser, posting_ids: Collection[int]) -> dict[int, PostingRow]:
    return {row.id: row for row in rows(user, posting_ids)}


def row(user: User, posting_id: int) -> PostingRow | None:
    return next(iter(rows(user, [posting_id])), None)


def _row(user: User | AnonymousUser, row: PostingRow) -> PostingRow:
    return replace(
        row,
        url=http_address(row.url),
        image_url=picture_for(user, picture_address(row.image_url), row.images),
        own_tags=tuple(row.own_tags),
        icon=icon_address(row.icon),
        also=also_in(row.also),
        audio=_audio(user, row),
    )


def _audio(user: User | AnonymousUser, row: PostingRow) -> Mapping[str, Any] | None:
    address = http_address(str(row.audio["address"])) if row.audio else ""
    return {**row.audio, "address": recording_for(user, address, row.images)} if row.audio and address else None
