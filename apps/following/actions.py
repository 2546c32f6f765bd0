"""The only writers of follows, folders, marks, tags and notes. Each is one transaction and may be called twice."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any

from django.db import connection, transaction
from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import queries
from apps.following.marking import Marked as Marked
from apps.following.marking import advance_all as advance_all
from apps.following.marking import forget_undo as forget_undo
from apps.following.marking import mark_all_read as mark_all_read
from apps.following.marking import settle
from apps.following.marking import undo_mark_all as undo_mark_all
from apps.following.models import Folder, Follow, Mark, Note, Playback, Reading, Share, Tag, Tagging
from apps.following.uniting import move_follows as move_follows
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.sources import queries as sources
from apps.sources.actions import NewSource, add_sources
from apps.sources.algorithms.addresses import host, registrable_domain
from apps.sources.formats.opml import OpmlDocument, Skipped, Subscription
from apps.sources.models import Source

UNREAD_AT_FIRST = 20  # newest postings of a source that are unread to somebody who starts to follow it
UNREAD_AT_FIRST_FOR = timedelta(days=30)  # or all of so long, while the source has fewer
MOST_FOLLOWS = 10_000  # of a person
MOST_FOLDERS = 500  # of a person
DEEPEST_FOLDER = 8
TOO_DEEP = f"Folders can lie at most {DEEPEST_FOLDER} deep."
MOST_IMPORTED = 5_000  # sources of one list
MOST_OF_A_SITE = 1_000  # sources of one site that somebody's lists add: no list makes us ask one site for ever
MOST_TAGS = 500  # of a person
LONGEST_TAG = 50  # characters
CHOICES = {"view", "full_text", "images", "muted"}  # of how a followed source is shown
MOST_NOTES = 10_000  # of a person
LONGEST_NOTE = 10_000  # characters
MOST_SHARES = 1_000  # of a person
MOST_REMEMBERED = 2_000  # postings that a person read lately
LONGEST_RECORDING = 7 * 86_400.0  # s


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
    _skip_older(user, fresh)
    mine = queries.folders_of(user).filter(pk__in=folder_ids).values_list("pk", flat=True)
    _file(user, {source_id: list(mine) for source_id in source_ids})
    return fresh


def _first_unread(source_ids: Collection[int], now: datetime) -> dict[int, datetime]:
    twentieth = postings.newest(Posting.objects.filter(source=OuterRef("pk"))).values("published_at")
    starts = Source.objects.filter(pk__in=source_ids).values_list(
        "pk", Subquery(twentieth[UNREAD_AT_FIRST - 1 : UNREAD_AT_FIRST])
    )
    return {source_id: start or now - UNREAD_AT_FIRST_FOR for source_id, start in starts}


# To count what is unread then does not begin with what was there before the person came.
_SKIP_OLDER = """
UPDATE following_follow follow SET read_through = lowest - 1
FROM unnest(%s::bigint[]) wanted (source_id) CROSS JOIN LATERAL (
    SELECT min(posting.id) AS lowest
    FROM following_follow follow JOIN postings_posting posting USING (source_id)
    WHERE follow.user_id = %s AND source_id = wanted.source_id AND published_at >= unread_from
) first
WHERE follow.user_id = %s AND follow.source_id = wanted.source_id AND lowest IS NOT NULL AND read_through = 0
"""


def _skip_older(user: User, source_ids: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_SKIP_OLDER, [list(source_ids), user.pk, user.pk])


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


@transaction.atomic
def unfollow(user: User, source_id: int) -> bool:
    """What was read and starred of the source is kept, in case the person comes back to it."""
    follows = queries.follows_of(user).filter(source_id=source_id)
    if not follows.exists():
        return False
    settle(user, source_id, newest=UNREAD_AT_FIRST)
    deleted, _ = follows.delete()
    return deleted > 0


@transaction.atomic
def edit_follow(follow: Follow, *, title: str, folders: Iterable[Folder], **choices: object) -> None:
    """Give a followed source the person's own name, and let it lie in exactly these folders.

    `choices` are of how it is shown: view, full_text, images, muted. Those that are not given stay as they are.
    """
    if unknown := choices.keys() - CHOICES:
        raise TypeError(f"a follow has no {', '.join(sorted(unknown))} to choose")
    Follow.objects.filter(pk=follow.pk).update(title=title, **choices)
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
    if "read" in values:
        values["marked_all"] = None  # said of these postings alone: no undo of a list changes it any more
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
    if len(document.subscriptions) > MOST_IMPORTED:
        count = len(document.subscriptions)
        raise NotPossible(f"The list names {count:,} sources; at most {MOST_IMPORTED:,} can be imported.")
    subscriptions, refused = _bearable(user, document.subscriptions)
    source_ids = add_sources([_as_source(subscription) for subscription in subscriptions])
    fresh = follow(user, source_ids, now=now)
    folders: dict[tuple[str, ...], Folder] = {}
    filed = {
        source_id: [_folder_at(user, path, folders).pk for path in subscription.folders]
        for source_id, subscription in zip(source_ids, subscriptions, strict=True)
    }
    _file(user, filed)
    _keep_names(user, dict(zip(source_ids, (subscription.title for subscription in subscriptions), strict=True)), fresh)
    skipped = (*document.skipped, *refused)
    return ImportReport(tuple(fresh), len(source_ids) - len(fresh), skipped, document.problem)


def _bearable(user: User, subscriptions: Sequence[Subscription]) -> tuple[list[Subscription], list[Skipped]]:
    """What of a list is taken: of each site so many that are new here, those that the person brought before included.

    Sources that the portal has already are asked no more often for one follower more.
    """
    known = sources.by_address([subscription.xml_url for subscription in subscriptions])
    own = queries.follows_of(user).filter(source__listed=False).values_list("source__url", flat=True)
    brought = Counter(map(_site, own))
    taken, refused = [], Counter[str]()
    for subscription in subscriptions:
        site = _site(subscription.xml_url)
        if subscription.xml_url not in known:
            if brought[site] >= MOST_OF_A_SITE:
                refused[site] += 1
                continue
            brought[site] += 1
        taken.append(subscription)
    why = "{} more sources of {} are left out: of one site a person can bring at most {:,}."
    return taken, [Skipped(0, why.format(count, site, MOST_OF_A_SITE)) for site, count in sorted(refused.items())]


def _site(url: str) -> str:
    return registrable_domain(host(url))


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


# --- tags put in order ------------------------------------------------------------------------------------------------
@transaction.atomic
def rename_tag(user: User, tag_id: int, name: str) -> bool:
    """Give a tag of the person's another name; False if they have no such tag.

    Raises
    ------
    NotPossible
        If it cannot be a tag's name, or another tag of theirs has it.
    """
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # or a new tag could take the name in between
    if Tag.objects.filter(user=user, name=name).exclude(pk=tag_id).exists():
        raise NotPossible(_("There is a tag “%(name)s” already; you can put the two together.") % {"name": name})
    return Tag.objects.filter(user=user, pk=tag_id).update(name=name) > 0


@transaction.atomic
def merge_tags(user: User, tag_id: int, into_id: int) -> bool:
    """Put the one tag's postings under the other, and delete the one; False if these are not two tags of theirs."""
    theirs = Tag.objects.select_for_update().filter(user=user, pk__in=[tag_id, into_id]).order_by("pk")
    if len(theirs) < 2:
        return False
    moved = Tagging.objects.filter(tag_id=tag_id).order_by("posting_id")
    Tagging.objects.bulk_create(
        [Tagging(tag_id=into_id, posting_id=old.posting_id, tagged_at=old.tagged_at) for old in moved],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    Tag.objects.filter(pk=tag_id).delete()
    return True


def delete_tag(user: User, tag_id: int) -> bool:
    """Take a tag off all postings; False if the person has no such tag."""
    deleted, _by_model = Tag.objects.filter(user=user, pk=tag_id).delete()
    return deleted > 0


# --- notes ------------------------------------------------------------------------------------------------------------
@transaction.atomic
def write_note(user: User, posting_id: int, text: str, *, now: datetime) -> bool:
    """Keep what a person writes about a posting in place of what they wrote before; False if that is nothing any more.

    Raises
    ------
    NotPossible
        If it is too long, or would be one more than a person can have.
    """
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    if not text:
        delete_note(user, posting_id)
        return False
    if len(text) > LONGEST_NOTE:
        raise NotPossible(
            _("A note has at most %(most)s characters; this one has %(count)s.")
            % {"most": f"{LONGEST_NOTE:,}", "count": f"{len(text):,}"}
        )
    User.objects.select_for_update().get(pk=user.pk)  # or two new ones at once would be one too many
    notes = Note.objects.filter(user=user)
    if not notes.filter(posting_id=posting_id).exists() and notes.count() >= MOST_NOTES:
        raise NotPossible(_("A person can have at most %(most)s notes.") % {"most": f"{MOST_NOTES:,}"})
    Note.objects.update_or_create(user=user, posting_id=posting_id, defaults={"text": text, "changed_at": now})
    return True


def delete_note(user: User, posting_id: int) -> bool:
    deleted, _by_model = Note.objects.filter(user=user, posting_id=posting_id).delete()
    return deleted > 0


# --- history ----------------------------------------------------------------------------------------------------------
# What lies before the last so many is forgotten.
_FORGET_OLD = """
DELETE FROM following_reading WHERE user_id = %(user)s AND read_at < (
    SELECT read_at FROM following_reading WHERE user_id = %(user)s
    ORDER BY read_at DESC, posting_id DESC OFFSET %(most)s - 1 LIMIT 1)
"""


@transaction.atomic
def remember_read(user: User, posting_ids: Iterable[int], *, now: datetime) -> None:
    """Let postings stand in the history of what a person read, at its top."""
    Reading.objects.bulk_create(
        [Reading(user=user, posting_id=posting_id, read_at=now) for posting_id in sorted(set(posting_ids))],
        update_conflicts=True,
        unique_fields=["user", "posting"],
        update_fields=["read_at"],
    )
    with connection.cursor() as cursor:
        cursor.execute(_FORGET_OLD, {"user": user.pk, "most": MOST_REMEMBERED})


def clear_history(user: User) -> int:
    """Forget when the person read what; returns how many postings that were. They stay read."""
    deleted, _by_model = Reading.objects.filter(user=user).delete()
    return deleted


# --- playback ---------------------------------------------------------------------------------------------------------
def keep_place(user: User, posting_id: int, address: str, seconds: float, *, now: datetime) -> None:
    """Keep how far a person has come in a recording; whatever device spoke last is right."""
    Playback.objects.update_or_create(
        user=user,
        posting_id=posting_id,
        defaults={"address": address, "seconds": min(max(seconds, 0.0), LONGEST_RECORDING), "changed_at": now},
    )


def forget_place(user: User, posting_id: int) -> None:
    Playback.objects.filter(user=user, posting_id=posting_id).delete()


# --- shared postings --------------------------------------------------------------------------------------------------
@transaction.atomic
def share(user: User, posting_id: int, *, now: datetime) -> Share:
    """Give a posting a secret address, or return the one that it has.

    Raises
    ------
    NotPossible
        If the person shares too many postings already.
    """
    User.objects.select_for_update().get(pk=user.pk)  # or two new ones at once would be one too many
    shares = Share.objects.filter(user=user)
    present = shares.filter(posting_id=posting_id).first()
    if present is not None:
        return present
    if shares.count() >= MOST_SHARES:
        raise NotPossible(_("A person can share at most %(most)s postings.") % {"most": f"{MOST_SHARES:,}"})
    return Share.objects.create(user=user, posting_id=posting_id, secret=token_urlsafe(24), shared_at=now)


def unshare(user: User, posting_id: int) -> bool:
    """Let the secret address lead nowhere; shared once more, the posting gets another one."""
    deleted, _by_model = Share.objects.filter(user=user, posting_id=posting_id).delete()
    return deleted > 0


# --- layouts ----------------------------------------------------------------------------------------------------------
def set_view(follow: Follow, view: str) -> None:
    """Lay out the postings of a followed source so from now on."""
    Follow.objects.filter(pk=follow.pk).update(**{"view": view})


# --- what hangs on postings that become one ---------------------------------------------------------------------------
_MOVE_OWN = """
UPDATE {table} own SET posting_id = pair.kept_id
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id)
WHERE own.posting_id = pair.merged_id AND NOT EXISTS (
    SELECT FROM {table} other WHERE other.{owner} = own.{owner} AND other.posting_id = pair.kept_id)
"""
_UNITE_NOTES = """
UPDATE following_note kept SET text = left(kept.text || E'\n\n' || merged.text, %s),
    changed_at = greatest(kept.changed_at, merged.changed_at)
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id)
JOIN following_note merged ON merged.posting_id = pair.merged_id
WHERE kept.posting_id = pair.kept_id AND kept.user_id = merged.user_id
"""


@transaction.atomic
def move_own(same: Sequence[tuple[int, int]]) -> None:
    """Let tags, notes, places, history and secret addresses of postings hang on those that take their place.

    Where somebody has written about both postings, the notes are put together; of everything else theirs on the
    posting that stays is kept. `same` are pairs of the one that goes and the one that stays, each in one pair only.
    """
    pairs = [[pair[0] for pair in same], [pair[1] for pair in same]]
    with connection.cursor() as cursor:
        cursor.execute(_UNITE_NOTES, [LONGEST_NOTE, *pairs])
        for model, owner in ((Tagging, "tag_id"), *((own, "user_id") for own in (Note, Reading, Playback, Share))):
            cursor.execute(_MOVE_OWN.format(table=model._meta.db_table, owner=owner), pairs)
