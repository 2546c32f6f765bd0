"""Follows, their folders and their settings."""

from collections.abc import Iterator

from django.utils.timezone import now as clock

from apps.account_data.formats.problems import BadArchive
from apps.account_data.formats.records import MAX_ADDRESS_LENGTH, line_of, records
from apps.account_data.members.base import Import, batches, in_batches
from apps.account_data.members.marks import options_in, options_of
from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.following import actions, queries
from apps.following.actions.restoring import restore_folder, restore_follow
from apps.following.models import Folder, Follow
from apps.following.queries import states
from apps.published_feeds.formats import atom
from apps.published_feeds.formats.feed import Feed
from apps.published_feeds.queries.feeds import entry_of
from apps.retrieval import actions as retrieval
from apps.sources.formats import opml

OPML, FOLDERS, FOLLOWS = "following.opml", "folders.jsonl", "follows.jsonl"
IN_OPML = {"title"}
KNOWN_OF_FOLLOWS = {*IN_OPML, "unread_from", "read_through", "followed_at"}
KNOWN_OF_FOLDERS = {"name"}


def write_opml(user: User) -> Iterator[bytes]:
    yield opml.write(queries.subscription_list(user), clock())


def take_opml(running: Import) -> None:
    if OPML in running.container:
        report = follow_all_of(running, OPML, running.container.whole(OPML, opml.MAX_DOCUMENT_BYTES))
        running.restored[OPML] += len(report.followed)


def follow_all_of(running: Import, name: str, data: bytes) -> actions.follows.ImportReport:
    try:
        report = actions.follows.import_list(running.user, opml.read(data), now=running.now)
    except opml.BrokenOpml as problem:
        raise BadArchive(str(problem), name) from problem
    retrieval.adopt_sources(report.followed, now=running.now)
    running.followed.update(report.followed)
    return report


def write_folders(user: User) -> Iterator[bytes]:
    """All folders: the OPML list has no empty ones."""
    folders = list(queries.folders_of(user))
    paths = queries.folder_paths(folders)
    for folder in sorted(folders, key=lambda folder: paths[folder.pk]):
        yield line_of({"path": paths[folder.pk]} | options_of(folder, KNOWN_OF_FOLDERS))


def take_folders(running: Import) -> None:
    for number, record in enumerate(records(running.container, FOLDERS), 1):
        if number > actions.follows.MAX_FOLDERS:
            raise record.bad(f"You can have at most {actions.follows.MAX_FOLDERS} folders.")
        path = record.values.get("path")
        if not (isinstance(path, list) and path and all(isinstance(name, str) and name.strip() for name in path)):
            raise record.bad("“path” is not a list of names.")
        if len(path) > actions.follows.MAX_FOLDER_DEPTH or any(len(name) > 100 for name in path):
            raise record.bad("The folder is nested too deeply, or its name is too long.")
        try:
            restore_folder(running.user, path, **options_in(record, Folder, KNOWN_OF_FOLDERS))
        except actions.errors.NotPossible as problem:
            raise record.bad(str(problem)) from problem
        running.restored[FOLDERS] += 1


def write_follows(user: User) -> Iterator[bytes]:
    unread_from = states.unread_from(user)
    for follow in in_batches(queries.follows_of(user).select_related("source")):
        times = {"unread_from": unread_from[follow.source_id], "followed_at": follow.followed_at}
        yield line_of({"source": follow.source.url} | times | options_of(follow, KNOWN_OF_FOLLOWS))


def take_follows(running: Import) -> None:
    """Settings and times of the follows that this import made."""
    for batch in batches(records(running.container, FOLLOWS)):
        addresses = [record.text("source", longest=MAX_ADDRESS_LENGTH) for record in batch]
        known = running.source_ids(set(addresses))
        for address, record in zip(addresses, batch, strict=True):
            options = options_in(record, Follow, KNOWN_OF_FOLLOWS)
            times = {name: record.moment(name) for name in ("unread_from", "followed_at")}
            options |= {name: min(at, running.now) for name, at in times.items() if at is not None}
            if "unread_from" in options:
                options["read_through"] = 0
            if known.get(address) in running.followed and options:
                restore_follow(running.user, known[address], **options)
                running.restored[FOLLOWS] += 1


# --- starred postings -------------------------------------------------------------------------------------------------
AT_ONCE = 100  # postings, with their texts


def write_starred(user: User) -> Iterator[bytes]:
    title = f"Starred by {user.get_username()}"
    feed = Feed(title, home="", address="", id=own_address(f"/people/{user.pk}/starred"), since=clock())
    starred = in_batches(queries.stars_of(user).select_related("posting__source"), "posting_id", AT_ONCE)
    return atom.pieces(feed, (entry_of(mark.posting, mark.changed_at) for mark in starred))
