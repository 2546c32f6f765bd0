"""All that one posting is to one person, asked for at once: the pages of postings are opened most of all."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.database.statements import fetch_as
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
    """How far the person has come in a recording."""

    address: str  # of the recording, as the posting had it then
    seconds: float  # from its beginning


@dataclass(frozen=True, slots=True)
class PostingState:
    readable: bool  # whether the person may open the posting, as `readable_by` says
    unread: bool  # this and the next as `with_state` says
    starred: bool
    source_title: str  # the person's own; this and the next two are empty where they chose nothing
    full_text: str
    images: str
    note: StateNote | None
    place: PlaybackPosition | None
    secret: str  # of the address where the person shows the posting to others; empty if they do not
    tags: tuple[StateTag, ...]  # on the posting, by name
    other_tags: tuple[StateTag, ...]


_OWN_THINGS = f"""
SELECT {READABLE} AS readable, {UNREAD} AS unread, {STARRED} AS starred,
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
WHERE posting.id = %(posting)s
"""


def posting_state(user: User | AnonymousUser, posting_id: int) -> PostingState | None:
    """What the person has of a posting, whether they may open it or not; None if there is no such posting. One query.

    Who is not signed in has nothing, and to them all is read.
    """
    names = {"user": user.pk or 0, "posting": posting_id}
    return next(iter(fetch_as(_read, _OWN_THINGS, names)), None)


def _read(
    *,
    readable: bool,
    unread: bool,
    starred: bool,
    source_title: str,
    full_text: str,
    images: str,
    note: str | None,
    noted_at: datetime | None,
    address: str | None,
    seconds: float | None,
    secret: str,
    tag_ids: list[int] | None,
    tag_names: list[str] | None,
    tags_are_on: list[bool] | None,
) -> PostingState:
    columns = zip(tag_ids or (), tag_names or (), tags_are_on or (), strict=True)
    tags = [(StateTag(id, name), is_on) for id, name, is_on in columns]
    return PostingState(
        readable=readable,
        unread=unread,
        starred=starred,
        source_title=source_title,
        full_text=full_text,
        images=images,
        note=None if note is None or noted_at is None else StateNote(note, noted_at),
        place=None if address is None or seconds is None else PlaybackPosition(address, seconds),
        secret=secret,
        tags=tuple(tag for tag, is_on in tags if is_on),
        other_tags=tuple(tag for tag, is_on in tags if not is_on),
    )
