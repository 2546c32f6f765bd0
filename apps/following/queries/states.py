"""Read and unread states, as defined by `Follow`; and all that a posting's page says of it, in one query."""

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db.models import BooleanField, Case, CharField, F, FilteredRelation, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, NullIf

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_as
from apps.following.algorithms.passages import Passage
from apps.following.queries.copies import COPIES, READ_BY_COPY, AlsoIn, also_in, folds, read_by_copy
from apps.postings.models import Posting

# Whether a posting without a mark is unread.
NEW = "posting.id > follow.read_through AND posting.published_at >= follow.unread_from"

# Postings of each source above `read_through`, by an index-only scan; `NEW` has to be tested as well. OFFSET 0 keeps
# Postgres from scanning everything published since `unread_from`. The follow's id among the columns prevents a Memoize
# node, which would never hit.
ARRIVED = """CROSS JOIN LATERAL (
    SELECT follow.id AS follow_id, posting.id, published_at, retrieved_at, first_copy
    FROM postings_posting AS posting
    WHERE posting.source_id = follow.source_id AND posting.id > follow.read_through OFFSET 0
) AS posting"""

# `with_state` and `readable_by` for raw statements, of `posting` and %(user)s; visitors have id 0.
OWN = """JOIN sources_source source ON source.id = posting.source_id
LEFT JOIN following_follow follow ON follow.source_id = posting.source_id AND follow.user_id = %(user)s
LEFT JOIN following_mark mark ON mark.posting_id = posting.id AND mark.user_id = %(user)s"""
UNREAD = f"(coalesce(NOT mark.read, {NEW}, false) AND NOT {READ_BY_COPY})"
STARRED = "mark.starred_at IS NOT NULL"
READABLE = f"(source.listed OR follow.id IS NOT NULL OR {STARRED})"

# `read_through` becomes a date: that of the latest posting below it. Late arrivals with older dates are the exception.
_UNREAD_FROM = """
SELECT follow.source_id, greatest(follow.unread_from, latest.published_at + interval '1 microsecond') AS unread_from
FROM following_follow follow LEFT JOIN LATERAL (
    SELECT max(published_at) AS published_at FROM postings_posting posting
    WHERE posting.source_id = follow.source_id AND posting.id <= follow.read_through
) latest ON true WHERE follow.user_id = %s
"""
_UNREAD_BEFORE = f"""
SELECT posting.id FROM ({_UNREAD_FROM}) limits
JOIN following_follow follow ON follow.user_id = %s AND follow.source_id = limits.source_id
JOIN postings_posting posting
    ON posting.source_id = follow.source_id AND posting.published_at < limits.unread_from AND {NEW}
LEFT JOIN following_mark mark ON mark.user_id = follow.user_id AND mark.posting_id = posting.id
WHERE mark.read IS NULL ORDER BY posting.id
"""


def with_state(postings: QuerySet[Posting], user: User | AnonymousUser) -> QuerySet[Posting]:
    """Annotate `unread` and `starred` for a user. To visitors everything is read."""
    if not user.is_authenticated:
        return postings.annotate(
            unread=Value(False, output_field=BooleanField()), starred=Value(False, output_field=BooleanField())
        )
    is_new = Q(pk__gt=F("my_follow__read_through"), published_at__gte=F("my_follow__unread_from"))
    return postings.annotate(
        my_mark=FilteredRelation("marks", condition=Q(marks__user=user)),
        my_follow=FilteredRelation("source__follows", condition=Q(source__follows__user=user)),
        unread=Case(
            When(my_mark__read=True, then=Value(False)),
            When(read_by_copy(user), then=Value(False)),
            When(my_mark__read=False, then=Value(True)),
            When(is_new, then=Value(True)),
            default=Value(False),
        ),
        starred=Case(When(my_mark__starred_at__isnull=False, then=Value(True)), default=Value(False)),
    )


def first_nonempty(*columns: str) -> Coalesce:
    """The first text among columns that is not empty, such as a source's title for a user."""
    return Coalesce(*(NullIf(F(column), Value("")) for column in columns), output_field=CharField())


def unread(postings: QuerySet[Posting], user: User) -> QuerySet[Posting]:
    return with_state(postings, user).filter(Q(unread=True))


_READ_ELSEWHERE = f"""
SELECT posting.id FROM following_follow follow {ARRIVED}
WHERE follow.user_id = %(user)s AND {READ_BY_COPY}
UNION
SELECT posting.id FROM following_mark mark JOIN postings_posting posting ON posting.id = mark.posting_id
WHERE mark.user_id = %(user)s AND NOT mark.read AND {READ_BY_COPY}
"""


def read_elsewhere(user: User) -> list[int]:
    """Postings that would be unread, had not the user read a copy of them; and some that are read. One query."""
    return [posting_id for (posting_id,) in fetch(_READ_ELSEWHERE, {"user": user.pk})]


class StateTag(NamedTuple):
    pk: int
    name: str


class StateNote(NamedTuple):
    text: str
    changed_at: datetime


class StateHighlight(NamedTuple):
    id: int
    passage: Passage
    note: str


class PlaybackPosition(NamedTuple):
    """The user's position in a recording."""

    address: str  # of the recording
    seconds: float  # from its beginning


class PostingState(NamedTuple):
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
    highlights: tuple[StateHighlight, ...]


_STATE = f"""
SELECT {READABLE} AS readable, ({UNREAD} OR %(folds)s AND copies.unread) AS unread,
    ({STARRED} OR %(folds)s AND copies.starred) AS starred,
    copies.also,
    coalesce(follow.title, '') AS source_title, coalesce(follow.full_text, '') AS full_text,
    coalesce(follow.images, '') AS images, note.text AS note, note.changed_at AS noted_at,
    playback.address, playback.seconds, coalesce(share.secret, '') AS secret,
    ARRAY(SELECT ARRAY[id::text, quote, prefix, suffix, note] FROM following_highlight
        WHERE user_id = %(user)s AND posting_id = posting.id ORDER BY id) AS highlights,
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
    return next(iter(fetch_as(_read, _STATE, names, generic=True)), None)


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
    highlights: list[list[str]],
    **plain: Any,
) -> PostingState:
    columns = zip(tag_ids or (), tag_names or (), tags_are_on or (), strict=True)
    tags = [(StateTag(id, name), is_on) for id, name, is_on in columns]
    return PostingState(
        **plain,
        also=also_in(also),
        highlights=tuple(StateHighlight(int(id), Passage(*passage), note) for id, *passage, note in highlights),
        note=None if note is None or noted_at is None else StateNote(note, noted_at),
        place=None if address is None or seconds is None else PlaybackPosition(address, seconds),
        tags=tuple(tag for tag, is_on in tags if is_on),
        other_tags=tuple(tag for tag, is_on in tags if not is_on),
    )


def unread_from(user: User) -> dict[int, datetime]:
    """By source, the publication date from which postings without a mark are unread."""
    return dict(fetch(_UNREAD_FROM, [user.pk]))


def unread_before(user: User) -> list[int]:
    """Unread postings without a mark that are older than that date, because they arrived late."""
    return [posting_id for (posting_id,) in fetch(_UNREAD_BEFORE, [user.pk, user.pk])]
