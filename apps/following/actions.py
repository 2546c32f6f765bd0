"""The only writers of follows, folders, marks and tags. Each is one transaction and may be called twice."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import OuterRef, Subquery

from apps.accounts.models import User
from apps.following import queries
from apps.following.models import Folder, Follow, Mark, Tag, Tagging
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.sources.actions import NewSource, add_sources
from apps.sources.formats.opml import OpmlDocument, Skipped, Subscription
from apps.sources.models import Source

UNREAD_AT_FIRST = 20  # newest postings of a source that are unread to somebody who starts to follow it
UNREAD_AT_FIRST_FOR = timedelta(days=30)  # or all of so long, while the source has fewer
MOST_FOLLOWS = 10_000  # of a person
MOST_FOLDERS = 500  # of a person
DEEPEST_FOLDER = 8
TOO_DEEP = f"Folders can lie at most {DEEPEST_FOLDER} deep."
MOST_IMPORTED = 5_000  # sources of one list
MOST_TAGS = 500  # of a person
LONGEST_TAG = 50  # characters


class NotPossible(ValueError):
    """What a person asked for breaks a rule; the message tells them which."""


# --- follows ----------------------------------------------------------------------------------------------------------
@transaction.atomic
def follow(user: User, source_ids: Sequence[int], *, now: datetime, folder_ids: Collection[int] = ()) -> list[int]:
    """Follow sources and put them into folders, besides those they lie in; return the ids of the newly followed.

    Raises
    ------
    NotPossible
        If the person would follow too many sources; nothing is followed then.
    """
    known = set(queries.follows_of(user).filter(source_id__in=source_ids).values_list("source_id", flat=True))
    fresh = [source_id for source_id in dict.fromkeys(source_ids) if source_id not in known]
    if queries.follows_of(user).count() + len(fresh) > MOST_FOLLOWS:
        raise NotPossible(f"A person can follow at most {MOST_FOLLOWS:,} sources.")
    starts = _first_unread(fresh, now)
    Follow.objects.bulk_create(
        [Follow(user=user, source_id=source_id, unread_from=starts[source_id]) for source_id in fresh],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    mine = queries.folders_of(user).filter(pk__in=folder_ids).values_list("pk", flat=True)
    _file(user, {source_id: list(mine) for source_id in source_ids})
    return fresh


def _first_unread(source_ids: Collection[int], now: datetime) -> dict[int, datetime]:
    twentieth = postings.newest(Posting.objects.filter(source=OuterRef("pk"))).values("published_at")
    starts = Source.objects.filter(pk__in=source_ids).values_list(
        "pk", Subquery(twentieth[UNREAD_AT_FIRST - 1 : UNREAD_AT_FIRST])
    )
    return {source_id: start or now - UNREAD_AT_FIRST_FOR for source_id, start in starts}


def _file(user: User, folders_by_source: dict[int, list[int]]) -> None:
    """Put follows into folders of theirs, and take them out of none."""
    follows = queries.follows_of(user).filter(source_id__in=folders_by_source).values_list("source_id", "pk")
    link = Follow.folders.through
    link.objects.bulk_create(
        [
            link(follow_id=follow_id, folder_id=folder_id)
            for source_id, follow_id in follows
            for folder_id in folders_by_source[source_id]
        ],
        ignore_conflicts=True,
        batch_size=1_000,
    )


def unfollow(user: User, source_id: int) -> bool:
    """What was read and starred of the source is kept, in case the person comes back to it."""
    deleted, _ = queries.follows_of(user).filter(source_id=source_id).delete()
    return deleted > 0


@transaction.atomic
def edit_follow(follow: Follow, *, title: str, folders: Iterable[Folder]) -> None:
    """Give a followed source the person's own name, and let it lie in exactly these folders."""
    Follow.objects.filter(pk=follow.pk).update(title=title)
    follow.folders.set([folder for folder in folders if folder.user_id == follow.user_id])


# --- folders ----------------------------------------------------------------------------------------------------------
@transaction.atomic
def create_folder(user: User, name: str, parent: Folder | None = None) -> Folder:
    """Make a folder; one of that name in that place is taken as it is.

    Raises
    ------
    NotPossible
        If there are too many folders, or it would lie too deep.
    """
    folder = queries.folders_of(user).filter(parent=parent, name=name).first()
    if folder is not None:
        return folder
    if queries.folders_of(user).count() >= MOST_FOLDERS:
        raise NotPossible(f"A person can have at most {MOST_FOLDERS} folders.")
    if parent is not None and len(queries.folder_paths(queries.folders_of(user))[parent.pk]) >= DEEPEST_FOLDER:
        raise NotPossible(TOO_DEEP)
    return Folder.objects.create(user=user, parent=parent, name=name)


@transaction.atomic
def edit_folder(folder: Folder, *, name: str, parent: Folder | None) -> None:
    """Give a folder a name and a place, and take along what lies in it.

    Raises
    ------
    NotPossible
        If another folder in that place has the name, or the folder would lie inside itself or too deep.
    """
    # Locked, since two moves at once could each be right and together put two folders inside each other.
    folders = list(queries.folders_of(folder.user).select_for_update())
    paths = queries.folder_paths(folders)
    moved = queries.with_descendants(folders, folder.pk)
    if parent is not None and parent.pk in moved:
        raise NotPossible("A folder cannot lie inside itself.")
    place = parent.pk if parent else None
    if any(other.name == name and other.parent_id == place and other.pk != folder.pk for other in folders):
        raise NotPossible(f"There is a folder “{name}” already.")
    height = max(len(paths[folder_id]) for folder_id in moved) - len(paths[folder.pk]) + 1
    if (len(paths[parent.pk]) if parent else 0) + height > DEEPEST_FOLDER:
        raise NotPossible(TOO_DEEP)
    Folder.objects.filter(pk=folder.pk).update(name=name, parent=parent)


def delete_folder(folder: Folder) -> None:
    """Delete a folder and those below it; the sources in them stay followed."""
    folder.delete()


# --- marks ------------------------------------------------------------------------------------------------------------
def mark_read(user: User, posting_ids: Iterable[int], *, read: bool, now: datetime) -> None:
    mark_for_all([(user.pk, posting_id) for posting_id in posting_ids], now=now, read=read)


def star(user: User, posting_id: int, *, starred: bool, now: datetime) -> None:
    mark_for_all([(user.pk, posting_id)], now=now, starred_at=now if starred else None)


_SAID_AT = {"read": "read_changed_at", "starred_at": "star_changed_at"}


def mark_for_all(pairs: Iterable[tuple[int, int]], *, now: datetime, **values: Any) -> None:
    """Mark postings for many people at once; pairs are of a person's and a posting's id."""
    values |= {said_at: now for field, said_at in _SAID_AT.items() if field in values}
    # In one order, so that two such statements at once wait for each other instead of locking each other out.
    Mark.objects.bulk_create(
        [
            Mark(user_id=user_id, posting_id=posting_id, changed_at=now, **values)
            for user_id, posting_id in sorted(set(pairs))
        ],
        update_conflicts=True,
        unique_fields=["user", "posting"],
        update_fields=[*values, "changed_at"],
    )


_MARK_ALL = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT %s, unread.pk, true, %s FROM ({unread}) AS unread
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = true, changed_at = excluded.changed_at
"""


@transaction.atomic
def mark_all_read(user: User, scope: queries.Scope, *, shown_at: datetime, now: datetime) -> int:
    """Mark read what is unread in a list and was in it when the person's page was made; return how many that were.

    What arrived later stays unread, also when its publication lies before that of postings on the page.
    """
    shown = queries.unread(queries.postings_in(user, scope), user).filter(retrieved_at__lte=shown_at)
    # In the order of ids, so that two such statements at once wait for each other instead of locking each other out.
    try:
        sql, parameters = shown.order_by("pk").values("pk").query.sql_with_params()
    except EmptyResultSet:  # a folder that is not the person's
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_MARK_ALL.format(unread=sql), [user.pk, now, *parameters])
        return int(cursor.rowcount)


# --- tags -------------------------------------------------------------------------------------------------------------
@transaction.atomic
def tag(user: User, posting_ids: Iterable[int], name: str, now: datetime) -> None:
    """Put a tag on postings, besides those that they have.

    Raises
    ------
    NotPossible
        If it cannot be a tag's name, or would be one more than a person can have.
    """
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # or two new ones at once would be one too many
    tags = Tag.objects.filter(user=user)
    if not tags.filter(name=name).exists() and tags.count() >= MOST_TAGS:
        raise NotPossible(f"A person can have at most {MOST_TAGS} tags.")
    tag_for_all([(user.pk, name, posting_id) for posting_id in posting_ids], now=now)


def untag(user: User, posting_ids: Iterable[int], name: str) -> None:
    Tagging.objects.filter(tag__user=user, tag__name=_tidy(name), posting_id__in=list(posting_ids)).delete()


@transaction.atomic
def tag_for_all(tagged: Collection[tuple[int, str, int]], *, now: datetime) -> None:
    """Tag postings for many people at once: a person's id, the tag's checked name, a posting's id."""
    names = sorted({(user_id, name) for user_id, name, _ in tagged})
    Tag.objects.bulk_create([Tag(user_id=user_id, name=name) for user_id, name in names], ignore_conflicts=True)
    known = Tag.objects.filter(user__in={user_id for user_id, _ in names}, name__in={name for _, name in names})
    tag_ids = {(user_id, name): pk for user_id, name, pk in known.values_list("user_id", "name", "pk")}
    pairs = sorted({(tag_ids[user_id, name], posting_id) for user_id, name, posting_id in tagged})
    Tagging.objects.bulk_create(
        [Tagging(tag_id=tag_id, posting_id=posting_id, tagged_at=now) for tag_id, posting_id in pairs],
        ignore_conflicts=True,
    )


def checked_tag(name: str) -> str:
    """The name of a tag as it is kept.

    Raises
    ------
    NotPossible
        If nothing is left of it, or it is too long.
    """
    name = _tidy(name)
    if not name:
        raise NotPossible("A tag needs a name.")
    if len(name) > LONGEST_TAG:
        raise NotPossible(f"The name of a tag has at most {LONGEST_TAG} characters.")
    return name


def _tidy(name: str) -> str:
    return " ".join(name.replace("\0", "").split())


# --- sources that become one ------------------------------------------------------------------------------------------
_UNITE_MARKS = """
INSERT INTO following_mark (user_id, posting_id, read, starred_at, changed_at)
SELECT mark.user_id, pair.kept_id, mark.read, mark.starred_at, mark.changed_at
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id)
JOIN following_mark mark ON mark.posting_id = pair.merged_id ORDER BY pair.kept_id
ON CONFLICT (user_id, posting_id) DO UPDATE SET
    read = CASE WHEN following_mark.read OR excluded.read THEN true
        ELSE coalesce(following_mark.read, excluded.read) END,
    starred_at = least(following_mark.starred_at, excluded.starred_at),
    changed_at = greatest(following_mark.changed_at, excluded.changed_at)
"""
# Of two follows that become one, the earlier beginning counts: what the later one took for read must stay read.
_KEEP_READ = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT later.user_id, posting.id, true, %(now)s
FROM following_follow earlier
JOIN following_follow later ON later.user_id = earlier.user_id AND later.unread_from > earlier.unread_from
JOIN postings_posting posting ON posting.source_id = later.source_id
    AND posting.published_at >= earlier.unread_from AND posting.published_at < later.unread_from
WHERE earlier.source_id = ANY(%(sources)s) AND later.source_id = ANY(%(sources)s)
    AND posting.id <> ALL(%(same)s::bigint[]) ORDER BY posting.id
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = coalesce(following_mark.read, true)
"""
_JOIN_FOLLOWS = """
UPDATE following_follow kept SET unread_from = least(kept.unread_from, merged.unread_from),
    followed_at = least(kept.followed_at, merged.followed_at),
    title = CASE WHEN kept.title = '' THEN merged.title ELSE kept.title END
FROM following_follow merged
WHERE kept.user_id = merged.user_id AND kept.source_id = %(to)s AND merged.source_id = %(from)s
"""
_JOIN_FOLDERS = """
INSERT INTO following_follow_folders (follow_id, folder_id)
SELECT kept.id, filed.folder_id
FROM following_follow merged
JOIN following_follow kept ON kept.user_id = merged.user_id AND kept.source_id = %(to)s
JOIN following_follow_folders filed ON filed.follow_id = merged.id
WHERE merged.source_id = %(from)s ON CONFLICT DO NOTHING
"""


@transaction.atomic
def move_follows(from_id: int, to_id: int, *, same: Sequence[tuple[int, int]], now: datetime) -> int:
    """Have those who follow one source follow another one in its place, and unite what they did with `same` postings.

    `same` are pairs of postings of the first and the second source; the others must not have been moved yet. What
    anybody has read stays read, what was starred or is unread stays that. Returns how many people follow anew.
    """
    merged, kept = [pair[0] for pair in same], [pair[1] for pair in same]
    names: dict[str, Any] = {"from": from_id, "to": to_id, "sources": [from_id, to_id], "now": now}
    names["same"] = merged + kept
    with connection.cursor() as cursor:
        cursor.execute(_UNITE_MARKS, [merged, kept])
        cursor.execute(_KEEP_READ, names)
        cursor.execute(_JOIN_FOLLOWS, names)
        cursor.execute(_JOIN_FOLDERS, names)
    already = list(Follow.objects.filter(source_id=to_id).values_list("user_id", flat=True))
    Follow.objects.filter(source_id=from_id, user__in=already).delete()
    return Follow.objects.filter(source_id=from_id).update(source_id=to_id)


# --- lists from other readers -----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ImportReport:
    followed: tuple[int, ...]  # sources
    already_followed: int
    skipped: tuple[Skipped, ...]
    problem: str  # where the list is not well-formed, though it could be read


@transaction.atomic
def import_list(user: User, document: OpmlDocument, *, now: datetime) -> ImportReport:
    """Follow all that a list names, in its folders, and keep its names for sources that are known by others.

    Raises
    ------
    NotPossible
        If it names too many sources or folders; nothing is followed then.
    """
    subscriptions = document.subscriptions
    if len(subscriptions) > MOST_IMPORTED:
        raise NotPossible(f"The list names {len(subscriptions):,} sources; at most {MOST_IMPORTED:,} can be imported.")
    source_ids = add_sources([_as_source(subscription) for subscription in subscriptions])
    fresh = follow(user, source_ids, now=now)
    folders: dict[tuple[str, ...], Folder] = {}
    filed = {
        source_id: [_folder_at(user, path, folders).pk for path in subscription.folders]
        for source_id, subscription in zip(source_ids, subscriptions, strict=True)
    }
    _file(user, filed)
    _keep_names(user, dict(zip(source_ids, (subscription.title for subscription in subscriptions), strict=True)), fresh)
    return ImportReport(tuple(fresh), len(source_ids) - len(fresh), document.skipped, document.problem)


def _as_source(subscription: Subscription) -> NewSource:
    return NewSource(
        url=subscription.xml_url,
        title=subscription.title,
        site_url=subscription.html_url,
        description=subscription.description,
        language=subscription.language,
    )


def _folder_at(user: User, path: tuple[str, ...], made: dict[tuple[str, ...], Folder]) -> Folder:
    path = tuple(name[:100] for name in path[:DEEPEST_FOLDER])
    if path not in made:
        parent = _folder_at(user, path[:-1], made) if len(path) > 1 else None
        made[path] = create_folder(user, path[-1], parent)
    return made[path]


def _keep_names(user: User, titles: dict[int, str], source_ids: Collection[int]) -> None:
    follows = list(queries.follows_of(user).filter(source_id__in=source_ids).select_related("source"))
    for follow in follows:
        title = titles[follow.source_id]
        follow.title = title if title != follow.source.title else ""
    Follow.objects.bulk_update(follows, ["title"], batch_size=1_000)
