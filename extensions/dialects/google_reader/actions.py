"""Changes by Google Reader clients. Each is one transaction, except for requests to sites."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.api.actions.marking import star_all
from apps.following import actions as following
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.models import Folder
from apps.following.queries.listing import Arrival
from apps.retrieval.actions import Discovery
from apps.retrieval.actions import following as retrieval
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, normalise
from apps.sources.formats.opml import OpmlDocument, Subscription
from extensions.dialects.google_reader.formats.items import BROADCAST, FRESH, KEPT_UNREAD, READ, STARRED
from extensions.dialects.google_reader.formats.streams import READING_LIST, BadStream, Stream, path_of
from extensions.dialects.google_reader.queries.streams import (
    UNREAD,
    Library,
    StreamRequest,
    known_sources,
    labels_of,
    present_sources,
)

MAX_SHARED = 100  # items at once
READ_ONE_BY_ONE = 200  # items: more at once are a list, which does not enter the history
MAX_MARKED = 10_000  # items of a stream that is not a list of the portal
MAX_NAME_LENGTH = 100  # characters, of a folder
MAX_TITLE_LENGTH = 1_000  # characters, of a subscription
_TRACKED = "tracking-"  # prefix of states for Google's statistics; ignored


# --- items ------------------------------------------------------------------------------------------------------------
@transaction.atomic
def edit_tags(
    user: User, ids: Collection[int], added: Collection[Stream], removed: Collection[Stream], *, now: datetime
) -> None:
    """Add states and labels to readable items, and remove others.

    Missing items are no error, because a client would retry forever. Raises BadStream for other states than read,
    kept-unread, fresh, starred and broadcast, and NotPossible for an invalid tag or too many tags or shares.
    """
    for stream in (*added, *removed):
        _require_editable(stream)
    readable = list(queries.readable_by(user).filter(pk__in=set(ids)).values_list("pk", flat=True))
    if not readable:
        return
    read = _becomes_read(added, removed)
    if read is not None:
        following.marks.mark_read(user, readable, read=read, now=now)
        if read and len(readable) <= READ_ONE_BY_ONE:
            following.marks.remember_read(user, readable, now=now)
    if STARRED in added or STARRED in removed:
        star_all(user, readable, starred=STARRED in added, now=now)
    if BROADCAST in added or BROADCAST in removed:
        _share(user, readable, shared=BROADCAST in added, now=now)
    for stream in removed:
        if stream.kind == "label":
            following.marks.untag(user, readable, stream.name)
    for stream in added:
        if stream.kind == "label":
            following.marks.tag(user, readable, stream.name, now)


def _require_editable(stream: Stream) -> None:
    known = stream in (READ, KEPT_UNREAD, FRESH, STARRED, BROADCAST) or stream.name.startswith(_TRACKED)
    if stream.kind != "label" and not (stream.kind == "state" and known):
        raise BadStream(f"“{stream}” cannot be put on items, or taken off.")


def _becomes_read(added: Collection[Stream], removed: Collection[Stream]) -> bool | None:
    """Whether items become read; None if unchanged. Keeping unread takes precedence."""
    if KEPT_UNREAD in added or FRESH in added:
        return False
    if READ in added:
        return True
    return False if READ in removed else None


def _share(user: User, ids: Collection[int], *, shared: bool, now: datetime) -> None:
    if len(ids) > MAX_SHARED:
        raise NotPossible(f"At most {MAX_SHARED} items can be shared at once, or taken back.")
    for id in ids:
        if shared:
            following.marks.share(user, id, now=now)
        else:
            following.marks.unshare(user, id)


@transaction.atomic
def mark_all_as_read(user: User, streams: Collection[Stream], *, until: datetime, now: datetime) -> None:
    """Mark streams read, as retrieved until a time. Raises BadStream for an unknown stream."""
    library = Library(user)
    for stream in streams:
        if stream.kind != "state" or stream in (READING_LIST, STARRED, UNREAD):
            for scope in library.scopes(stream):
                following.marking.mark_all_read(user, scope, shown_at=until, now=now)
        else:  # not a list of the portal
            unread = StreamRequest((stream,), MAX_MARKED, excluded=(READ,), arrival=Arrival(until=until))
            following.marks.mark_read(user, library.part(unread).ids, read=True, now=now)


# --- labels -----------------------------------------------------------------------------------------------------------
@transaction.atomic
def rename_label(user: User, label: Stream, name: Stream) -> None:
    """Rename the folder and the tag of a label; the folder moves to the path in the new label.

    Raises BadStream for an unknown label, and NotPossible if the new one is taken or invalid.
    """
    folder, tag_id = _labelled(user, label)
    if folder is not None:
        *above, last = _checked_path(name)
        following.follows.edit_folder(
            folder, name=last, parent=following.follows.folder_at(user, above) if above else None
        )
    if tag_id is not None:
        following.marks.rename_tag(user, tag_id, name.name)


@transaction.atomic
def delete_labels(user: User, labels: Collection[Stream]) -> None:
    """Delete the folder with its subfolders and the tag of each label; sources stay followed.

    Raises BadStream for an unknown label.
    """
    for folder, tag_id in [_labelled(user, label) for label in labels]:
        if folder is not None:
            following.follows.delete_folder(folder)
        if tag_id is not None:
            following.marks.delete_tag(user, tag_id)


def _labelled(user: User, label: Stream) -> tuple[Folder | None, int | None]:
    labels = labels_of(user)
    found = labels.folders.get(label.name), labels.tags.get(label.name)
    if label.kind != "label" or found == (None, None):
        raise BadStream(f"You have no label “{label.name[:200]}”.")
    return found


# --- subscriptions ----------------------------------------------------------------------------------------------------
def subscribe(user: User, titles: Mapping[Stream, str], *, added: Collection[Stream], now: datetime) -> None:
    """Follow feeds, in the folders of labels. An empty title keeps the feed's own.

    A single unknown address is retrieved first, and can be a page that names its feed. Several are added as they are,
    because retrieving them could take minutes. Raises BadStream for an unknown id or invalid label, NotPossible without
    a feed or above a limit, and TooOften after too many lookups within the hour.
    """
    _require_possible(titles, added)
    known = present_sources(user, titles)
    unknown = {feed: _address(feed) for feed in titles if feed not in known}
    if len(unknown) == 1:
        [(feed, address)] = unknown.items()
        known[feed] = _found(retrieval.follow_address(user, address, now=now))
    elif unknown:
        document = OpmlDocument(subscriptions=tuple(Subscription(address) for address in set(unknown.values())))
        if skipped := retrieval.import_list(user, document, now=now).skipped:
            raise NotPossible(skipped[0].reason)
        by_address = sources.by_address(set(unknown.values()))
        known |= {feed: by_address[address] for feed, address in unknown.items()}
    with transaction.atomic():
        retrieval.follow_all(user, [known[feed] for feed in titles], now=now)
        _arrange(user, {known[feed]: title for feed, title in titles.items()}, added, ())


@transaction.atomic
def edit_subscriptions(
    user: User, titles: Mapping[Stream, str], *, added: Collection[Stream], removed: Collection[Stream]
) -> None:
    """Rename followed feeds, and add them to or remove them from the folders of labels.

    Raises BadStream for a feed that is not followed or an invalid label, and NotPossible above a limit.
    """
    _require_possible(titles, added)
    found = known_sources(user, titles)
    _arrange(user, {found[feed]: title for feed, title in titles.items()}, added, removed)


@transaction.atomic
def unsubscribe(user: User, feeds: Sequence[Stream], *, now: datetime) -> None:
    """Unfollow feeds that are followed. Raises BadStream for an unknown feed."""
    for source_id in known_sources(user, feeds).values():
        retrieval.unfollow(user, source_id, now=now)


def quick_add(user: User, address: str, *, now: datetime) -> Discovery:
    """Follow the feed at an address, or the first one that a page names, because clients cannot choose.

    Raises TooOften after too many lookups within the hour, and NotPossible above the limit of follows.
    """
    found = retrieval.follow_address(user, address.removeprefix("feed/"), now=now)
    return retrieval.follow_address(user, found.choices[0].url, now=now) if found.choices else found


def _address(feed: Stream) -> str:
    if feed.kind != "feed" or feed.name.isdecimal():
        raise BadStream(f"There is no “{feed}”.")
    try:
        return normalise(feed.name)
    except BadAddress as error:
        raise BadStream(f"There is no “{feed}”. {error}") from error


def _found(found: Discovery) -> int:
    if found.source_id is None:
        choices = ", ".join(choice.url for choice in found.choices)
        raise NotPossible(f"The page names several feeds: {choices}" if choices else found.problem)
    return found.source_id


def _arrange(user: User, titles: Mapping[int, str], added: Collection[Stream], removed: Collection[Stream]) -> None:
    labels = labels_of(user).folders
    folders = [labels.get(stream.name) or following.follows.folder_at(user, _checked_path(stream)) for stream in added]
    out_of = {labels[stream.name].pk for stream in removed if stream.kind == "label" and stream.name in labels}
    follows = {
        follow.source_id: follow
        for follow in queries.follows_of(user).filter(source__in=titles).prefetch_related("folders", "source")
    }
    for source_id, title in titles.items():
        follow = follows.get(source_id)
        if follow is None:
            raise BadStream(f"You do not follow “feed/{source_id}”.")
        within = {folder.pk: folder for folder in (*follow.folders.all(), *folders) if folder.pk not in out_of}
        own = (title if title != follow.source.title else "") if title else follow.title
        following.follows.edit_follow(follow, title=own, folders=within.values())


def _require_possible(titles: Mapping[Stream, str], added: Collection[Stream]) -> None:
    """Checks made in advance, because retrieving an address cannot be undone."""
    if any(len(title) > MAX_TITLE_LENGTH for title in titles.values()):
        raise NotPossible(f"A title has at most {MAX_TITLE_LENGTH:,} characters.")
    for label in added:
        _checked_path(label)


def _checked_path(label: Stream) -> tuple[str, ...]:
    """The path of a label's folder. Raises BadStream if it is no label or not a valid path."""
    path = tuple(" ".join(name.split()) for name in path_of(label.name))
    if label.kind != "label" or not all(path) or max(map(len, path)) > MAX_NAME_LENGTH:
        raise BadStream(f"“{label}” is no label: each part has from 1 to {MAX_NAME_LENGTH} characters.")
    return path
