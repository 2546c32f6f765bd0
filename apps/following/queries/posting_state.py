"""The state of a posting for a user in one query, for the page that is opened most often."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.database.statements import fetch_as
from apps.following.queries.copies import COPIES, AlsoIn, also_in, folds
from apps.following.queries.states import OWN, READABLE, STARRED, UNREAD


@dataclass(frozen=True, slots=True)
class StateTag:
    pk: int
    name: str


@dataclass(frozen=True, slots=True)
class StateNote:
    text: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class PlaybackPosition:
    """The user's position in a recording."""

    address: str  # of the recording
    seconds: float  # from its beginning


@dataclass(frozen=True, slots=True)
class PostingState:
    readable: bool  # as `readable_by` defines
    unread: bool  # as `with_state` defines, or if lists are folded, the article
    starred: bool  # this or, if lists are folded, one of its copies
    also: tuple[AlsoIn, ...]
    source_title: str  # the user's own; this and the next two are empty by default
    full_text: str
    images: str
    note: StateNote | None
    place: PlaybackPosition | None
    secret: str  # of the address at which the user shares the posting; else empty
    tags: tuple[StateTag, ...]  # of the posting, by name
    other_tags: tuple[StateTag, ...]


_STATE = f"""
SELECT {READABLE} AS readable, ({UNREAD} OR %(folds)s AND copies.unread) AS unread,
    ({STARRED} OR %(folds)s AND copies.starred) AS starred,
    copies.also,
    coalesce(follow.title, '') AS source_title, coalesce(follow.full_text, '') AS full_text,
    coalesce(follow.images, '') AS images, note.text AS note, note.changed_at AS noted_at,
    playback.address, playback.seconds, coalesce(share.secret, '') AS secret,
    tags.ids AS tag_ids, tags.names AS tag_names, tags.are_on AS tags_are_on
FROM postings_posting posting
{OWN}
LEFT JOIN following_note note ON note.user_id = %(user)s AND note.posting_id = posting.id
LEFT JOIN following_playback playback ON playback.user_id = %(user)s AND playback.posting_id = posting.id
LEFT JOIN following_share share ON share.user_id = %(user)s AND share.posting_id = posting.id
CROSS JOIN LATERAL (
    SELECT array_agg(tag.id ORDER BY name, tag.id) AS ids, array_agg(name ORDER BY name, tag.id) AS names,
        array_agg(tagging.id IS NOT NULL ORDER BY name, tag.id) AS are_on
    FROM following_tag tag LEFT JOIN following_tagging tagging ON tag_id = tag.id AND posting_id = posting.id
    WHERE user_id = %(user)s
) tags
{COPIES}
WHERE posting.id = %(posting)s
"""


def posting_state(user: User | AnonymousUser, posting_id: int) -> PostingState | None:
    """The state of a posting, whether readable or not; None if it does not exist. One query."""
    names = {"user": user.pk or 0, "posting": posting_id, "folds": folds(user)}
    return next(iter(fetch_as(_read, _STATE, names)), None)


def _read(
    *,
    note: str | None,
    noted_at: datetime | None,
    address: str | None,
    seconds: float | None,
    tag_ids: list[int] | None,
    tag_names: list[str] | None,
    tags_are_on: list[bool] | None,
    also: list[str],
    **plain: Any,
) -> PostingState:
    columns = zip(tag_ids or (), tag_names or (), tags_are_on or (), strict=True)
    tags = [(StateTag(id, name), is_on) for id, name, is_on in columns]
    return PostingState(
        **plain,
        also=also_in(also),
        note=None if note is None or noted_at is None else StateNote(note, noted_at),
        place=None if address is None or seconds is None else PlaybackPosition(address, seconds),
        tags=tuple(tag for tag, is_on in tags if is_on),
        other_tags=tuple(tag for tag, is_on in tags if not is_on),
    )
