"""Follows and their folders."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.database.statements import execute
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.actions.marking import settle
from apps.following.algorithms.ordering import Step, placed, rearranged, stepped
from apps.following.models import Folder, Follow
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.sources import queries as sources
from apps.sources.actions.editing import add_sources, source_of
from apps.sources.algorithms.addresses import host, registrable_domain
from apps.sources.formats.opml import OpmlDocument, Skipped, Subscription
from apps.sources.models import Source

MAX_FOLDERS = 500  # per user
MAX_FOLDER_DEPTH = 8
TOO_DEEP = gettext_lazy("Folders can be nested at most %(number)s deep.")

FolderId = int | None  # None: outside of all folders

UNREAD_AT_FIRST = 20  # newest postings of a source that are unread to a new follower
UNREAD_AT_FIRST_FOR = timedelta(days=30)  # maximum age of these, if the source has fewer
MAX_FOLLOWS = 10_000  # per user

MAX_IMPORTED = 5_000  # sources per list
MAX_OF_A_SITE = 1_000  # new sources of one site by one user, so that lists cannot overload a site


# --- folders ----------------------------------------------------------------------------------------------------------
@transaction.atomic
def create_folder(user: User, name: str, parent: Folder | None = None) -> Folder:
    """Create a folder, or return the one of that name and parent. Raises NotPossible above a limit."""
    folder = queries.folders_of(user).filter(parent=parent, name=name).first()
    if folder is not None:
        return folder
    if queries.folders_of(user).count() >= MAX_FOLDERS:
        raise NotPossible(_("You can have at most %(number)s folders.") % {"number": MAX_FOLDERS})
    if parent is not None and len(queries.folder_paths(queries.folders_of(user))[parent.pk]) >= MAX_FOLDER_DEPTH:
        raise NotPossible(TOO_DEEP % {"number": MAX_FOLDER_DEPTH})
    return Folder.objects.create(user=user, parent=parent, name=name)


@transaction.atomic
def folder_at(user: User, path: Sequence[str]) -> Folder:
    """The folder at a path of names, created with its parents if missing. Raises NotPossible above a limit."""
    *around, name = path
    return create_folder(user, name, folder_at(user, around) if around else None)


@transaction.atomic
def edit_folder(folder: Folder, *, name: str, parent: Folder | None) -> None:
    """Rename a folder, and move it with its contents.

    Raises NotPossible if a sibling has the name, or the folder would be inside itself or too deep.
    """
    # Locked, because two concurrent moves could put two folders inside each other.
    folders = list(queries.folders_of(folder.user).select_for_update())
    paths = queries.folder_paths(folders)
    moved = queries.with_descendants(folders, folder.pk)
    if parent is not None and parent.pk in moved:
        raise NotPossible(_("A folder cannot be moved into itself."))
    place = parent.pk if parent else None
    if any(other.name == name and other.parent_id == place and other.pk != folder.pk for other in folders):
        raise NotPossible(_("A folder named “%(name)s” already exists.") % {"name": name})
    height = max(len(paths[folder_id]) for folder_id in moved) - len(paths[folder.pk]) + 1
    if (len(paths[parent.pk]) if parent else 0) + height > MAX_FOLDER_DEPTH:
        raise NotPossible(TOO_DEEP % {"number": MAX_FOLDER_DEPTH})
    Folder.objects.filter(pk=folder.pk).update(name=name, parent=parent)


def delete_folder(folder: Folder) -> None:
    """Delete a folder and its subfolders; their sources stay followed."""
    folder.delete()


# --- the order of sources and folders ---------------------------------------------------------------------------------
@transaction.atomic
def step_source(user: User, source_id: int, *, within: FolderId, step: Step) -> None:
    """Move a source by a step in one of the user's lists. Raises NotPossible if it is not in the list."""
    _lock(user)
    _arrange(user, stepped(_listed(user, within, source_id), source_id, step))


@transaction.atomic
def place_source(user: User, source_id: int, *, out_of: FolderId, into: FolderId, before: int | None) -> None:
    """Move a source from one of the user's lists to a place in the same list or another one.

    It stays in other folders. Raises NotPossible if the source is not in the first list, or a folder does not exist.
    """
    _lock(user)
    listed = _listed(user, out_of, source_id)
    if into != out_of:
        _refile(user, source_id, out_of, into)
        listed = _sources_in(user, into)
    _arrange(user, placed(listed, source_id, before))


@transaction.atomic
def step_folder(user: User, folder_id: int, *, step: Step) -> None:
    """Move a folder by a step among its siblings. Raises NotPossible if it does not exist."""
    _lock(user)
    folder = _folder(user, folder_id)
    _number_folders(stepped(_siblings(user, folder.parent_id), folder_id, step))


@transaction.atomic
def place_folder(user: User, folder_id: int, *, into: FolderId, before: int | None) -> None:
    """Move a folder with its contents to a place among its siblings or in another folder.

    Raises NotPossible if a folder does not exist, or for the reasons of `edit_folder`.
    """
    _lock(user)
    folder = _folder(user, folder_id)
    if into != folder.parent_id:
        parent = None if into is None else _folder(user, into)
        edit_folder(folder, name=folder.name, parent=parent)
    _number_folders(placed(_siblings(user, into), folder_id, before))


def _lock(user: User) -> None:
    """Two concurrent changes could otherwise each write half of an order."""
    User.objects.select_for_update().only("pk").get(pk=user.pk)


def _folder(user: User, folder_id: int) -> Folder:
    folder = queries.folder_of(user, folder_id)
    if folder is None:
        raise NotPossible(_("You have no such folder."))
    return folder


def _sources_in(user: User, place: FolderId) -> list[int]:
    followed = queries.followed_sources(user)
    if place is None:
        return [each.source_id for each in followed if not each.folder_ids]
    return [each.source_id for each in followed if place in each.folder_ids]


def _listed(user: User, place: FolderId, source_id: int) -> list[int]:
    listed = _sources_in(user, place)
    if source_id not in listed:
        raise NotPossible(_("The feed is no longer in this list."))
    return listed


def _refile(user: User, source_id: int, out_of: FolderId, into: FolderId) -> None:
    follow = queries.follows_of(user).get(source_id=source_id)
    if into is not None:
        follow.folders.add(_folder(user, into))
    if out_of is not None:
        follow.folders.remove(out_of)


def _arrange(user: User, part: Sequence[int]) -> None:
    """Store the order of some of the user's sources; the others keep their positions."""
    followed = {each.source_id: each.follow_id for each in queries.followed_sources(user)}
    here = [source_id for source_id in part if source_id in followed]
    _write(Follow, {followed[id]: number for number, id in enumerate(rearranged(list(followed), here), start=1)})


def _siblings(user: User, parent_id: FolderId) -> list[int]:
    return [folder.pk for folder in queries.in_order(queries.folders_of(user).filter(parent_id=parent_id))]


def _number_folders(order: Sequence[int]) -> None:
    _write(Folder, {folder_id: number for number, folder_id in enumerate(order, start=1)})


def _write(model: type[Follow] | type[Folder], positions: Mapping[int, int]) -> None:
    execute(
        f"""UPDATE {model._meta.db_table} placed SET position = given.position
        FROM unnest(%s::bigint[], %s::int[]) given (id, position)
        WHERE placed.id = given.id AND placed.position <> given.position""",
        [list(positions), list(positions.values())],
    )


# --- follows ----------------------------------------------------------------------------------------------------------
@transaction.atomic
def follow(user: User, source_ids: Sequence[int], *, now: datetime, folder_ids: Collection[int] = ()) -> list[int]:
    """Follow sources and add them to folders; returns the ids of newly followed ones.

    Raises NotPossible if the user would follow too many sources; nothing is followed then.
    """
    known = set(queries.follows_of(user).filter(source_id__in=source_ids).values_list("source_id", flat=True))
    fresh = [source_id for source_id in dict.fromkeys(source_ids) if source_id not in known]
    if queries.follows_of(user).count() + len(fresh) > MAX_FOLLOWS:
        raise NotPossible(_("You can follow at most %(number)s feeds.") % {"number": f"{MAX_FOLLOWS:,}"})
    starts = _first_unread(fresh, now)
    Follow.objects.bulk_create(
        [Follow(user=user, source_id=source_id, unread_from=starts[source_id]) for source_id in fresh],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    execute(_SKIP_OLDER, [fresh, user.pk, user.pk])
    mine = queries.folders_of(user).filter(pk__in=folder_ids).values_list("pk", flat=True)
    file_into(user, {source_id: list(mine) for source_id in source_ids})
    return fresh


def _first_unread(source_ids: Collection[int], now: datetime) -> dict[int, datetime]:
    twentieth = postings.newest(Posting.objects.filter(source=OuterRef("pk"))).values("published_at")
    starts = Source.objects.filter(pk__in=source_ids).values_list(
        "pk", Subquery(twentieth[UNREAD_AT_FIRST - 1 : UNREAD_AT_FIRST])
    )
    return {source_id: start or now - UNREAD_AT_FIRST_FOR for source_id, start in starts}


# Counting unread postings then skips what is older than the follow.
_SKIP_OLDER = """
UPDATE following_follow follow SET read_through = lowest - 1
FROM unnest(%s::bigint[]) wanted (source_id) CROSS JOIN LATERAL (
    SELECT min(posting.id) AS lowest
    FROM following_follow follow JOIN postings_posting posting USING (source_id)
    WHERE follow.user_id = %s AND source_id = wanted.source_id AND published_at >= unread_from
) first
WHERE follow.user_id = %s AND follow.source_id = wanted.source_id AND lowest IS NOT NULL AND read_through = 0
"""


def file_into(user: User, folders_by_source: dict[int, list[int]]) -> None:
    """Add follows to folders of the same user."""
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
    """Read states and stars of the source are kept, in case the user follows it again."""
    follows = queries.follows_of(user).filter(source_id=source_id)
    if not follows.exists():
        return False
    settle(user, source_id, newest=UNREAD_AT_FIRST)
    return follows.delete()[0] > 0


@transaction.atomic
def edit_follow(follow: Follow, *, title: str, folders: Iterable[Folder], **choices: object) -> None:
    """Set the user's title, the folders and other columns of a follow."""
    Follow.objects.filter(pk=follow.pk).update(title=title, **choices)
    follow.folders.set([folder for folder in folders if folder.user_id == follow.user_id])


def set_view(follow: Follow, view: str) -> None:
    Follow.objects.filter(pk=follow.pk).update(view=view)


# --- imported lists ---------------------------------------------------------------------------------------------------
class ImportReport(NamedTuple):
    followed: tuple[int, ...]  # sources
    already_followed: int
    skipped: tuple[Skipped, ...]
    problem: str  # where a readable list is not well-formed


@transaction.atomic
def import_list(user: User, document: OpmlDocument, *, now: datetime) -> ImportReport:
    """Follow all sources of a list in its folders, under its titles where they differ from those of the sources.

    Raises NotPossible for too many sources or folders; nothing is followed then.
    """
    if len(document.subscriptions) > MAX_IMPORTED:
        count = len(document.subscriptions)
        words = _("The list has %(number)s feeds; at most %(most)s can be imported.")
        raise NotPossible(words % {"number": f"{count:,}", "most": f"{MAX_IMPORTED:,}"})
    subscriptions, refused = _within_site_limits(user, document.subscriptions)
    source_ids = add_sources(list(map(source_of, subscriptions)))
    fresh = follow(user, source_ids, now=now)
    folders: dict[tuple[str, ...], Folder] = {}
    filed = {
        source_id: [_folder_at(user, path, folders).pk for path in subscription.folders]
        for source_id, subscription in zip(source_ids, subscriptions, strict=True)
    }
    file_into(user, filed)
    _keep_names(user, dict(zip(source_ids, (subscription.title for subscription in subscriptions), strict=True)), fresh)
    skipped = (*document.skipped, *refused)
    return ImportReport(tuple(fresh), len(source_ids) - len(fresh), skipped, document.problem)


def _within_site_limits(user: User, subscriptions: Sequence[Subscription]) -> tuple[list[Subscription], list[Skipped]]:
    """The accepted subscriptions: new sources are limited per site, including earlier imports of the user.

    Sources that the portal already has are not checked more often for another follower.
    """
    known = sources.by_address([subscription.xml_url for subscription in subscriptions])
    own = queries.follows_of(user).filter(source__listed=False).values_list("source__url", flat=True)
    added = Counter(map(_site, own))
    taken, refused = [], Counter[str]()
    for subscription in subscriptions:
        site = _site(subscription.xml_url)
        if subscription.xml_url not in known:
            if added[site] >= MAX_OF_A_SITE:
                refused[site] += 1
                continue
            added[site] += 1
        taken.append(subscription)
    why = "{} more sources of {} are left out: at most {:,} of one site can be imported."
    return taken, [Skipped(0, why.format(count, site, MAX_OF_A_SITE)) for site, count in sorted(refused.items())]


def _site(url: str) -> str:
    return registrable_domain(host(url))


def _folder_at(user: User, path: tuple[str, ...], made: dict[tuple[str, ...], Folder]) -> Folder:
    path = tuple(name[:100] for name in path[:MAX_FOLDER_DEPTH])
    if path not in made:
        parent = _folder_at(user, path[:-1], made) if len(path) > 1 else None
        made[path] = create_folder(user, path[-1], parent)
    return made[path]


def _keep_names(user: User, titles: dict[int, str], source_ids: Collection[int]) -> None:
    follows = list(queries.follows_of(user).filter(source_id__in=source_ids).select_related("source"))
    for each in follows:
        title = titles[each.source_id]
        each.title = title if title != each.source.title else ""
    Follow.objects.bulk_update(follows, ["title"], batch_size=1_000)
