"""What clients of Google Reader change. Each is one transaction, but for what asks other sites."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.api.actions.marking import star_all
from apps.api.dialects.google_reader.formats.items import BROADCAST, FRESH, KEPT_UNREAD, READ, STARRED
from apps.api.dialects.google_reader.formats.streams import READING_LIST, BadStream, Stream, path_of
from apps.api.dialects.google_reader.queries.labels import labels_of
from apps.api.dialects.google_reader.queries.streams import (
    UNREAD,
    Library,
    StreamRequest,
    known_sources,
    present_sources,
)
from apps.following import actions as following
from apps.following import queries
from apps.following.actions import NotPossible
from apps.following.models import Folder
from apps.following.queries.listing import Arrival
from apps.retrieval.actions import Discovery
from apps.retrieval.actions import following as retrieval
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, normalise
from apps.sources.formats.opml import OpmlDocument, Subscription

MAX_SHARED = 100  # items at once
READ_ONE_BY_ONE = 200  # items: more at once are a list put away, which belongs in nobody's history
MAX_MARKED = 10_000  # items of a stream that is no list of the portal's
MAX_NAME_LENGTH = 100  # characters, of a folder
MAX_TITLE_LENGTH = 1_000  # characters, of a subscription
_TRACKED = "tracking-"  # how states begin by which Google counted what people do; nothing is kept of them


# --- items ------------------------------------------------------------------------------------------------------------
@transaction.atomic
def edit_tags(
    user: User, ids: Collection[int], added: Collection[Stream], removed: Collection[Stream], *, now: datetime
) -> None:
    """Put states and labels on items and take others off; items that the person may not open stay as they are.

    An item that is gone is no error: a client would send the change again for ever. Raises BadStream if something else
    is put on or taken off than read, kept-unread, fresh, starred, broadcast or a label, and NotPossible if a label
    cannot be a tag's name, or the person would have too many tags or shared postings.
    """
    for stream in (*added, *removed):
        _require_editable(stream)
    readable = list(queries.readable_by(user).filter(pk__in=set(ids)).values_list("pk", flat=True))
    if not readable:
        return
    read = _said_read(added, removed)
    if read is not None:
        following.mark_read(user, readable, read=read, now=now)
        if read and len(readable) <= READ_ONE_BY_ONE:
            following.remember_read(user, readable, now=now)
    if STARRED in added or STARRED in removed:
        star_all(user, readable, starred=STARRED in added, now=now)
    if BROADCAST in added or BROADCAST in removed:
        _share(user, readable, shared=BROADCAST in added, now=now)
    for stream in removed:
        if stream.kind == "label":
            following.untag(user, readable, stream.name)
    for stream in added:
        if stream.kind == "label":
            following.tag(user, readable, stream.name, now)


def _require_editable(stream: Stream) -> None:
    known = stream in (READ, KEPT_UNREAD, FRESH, STARRED, BROADCAST) or stream.name.startswith(_TRACKED)
    if stream.kind != "label" and not (stream.kind == "state" and known):
        raise BadStream(f"“{stream}” cannot be put on items, or taken off.")


def _said_read(added: Collection[Stream], removed: Collection[Stream]) -> bool | None:
    """Whether items are read now; None if nothing was said of it. To keep unread goes before to have read."""
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
            following.share(user, id, now=now)
        else:
            following.unshare(user, id)


@transaction.atomic
def mark_all_as_read(user: User, streams: Collection[Stream], *, until: datetime, now: datetime) -> None:
    """Mark read what of some streams had reached us until a time. Raises BadStream if there is no such stream."""
    library = Library(user)
    for stream in streams:
        if stream.kind != "state" or stream in (READING_LIST, STARRED, UNREAD):
            for scope in library.scopes(stream):
                following.mark_all_read(user, scope, shown_at=until, now=now)
        else:  # no list of the portal's
            asked = StreamRequest((stream,), MAX_MARKED, excluded=(READ,), arrival=Arrival(until=until))
            following.mark_read(user, library.part(asked).ids, read=True, now=now)


# --- labels -----------------------------------------------------------------------------------------------------------
@transaction.atomic
def rename_label(user: User, label: Stream, name: Stream) -> None:
    """Give the folder and the tag of a label another one; a folder goes where the new label says that it lies.

    Raises BadStream if the person has no such label, and NotPossible if another folder or tag has the new one, or it
    cannot be had.
    """
    folder, tag_id = _labelled(user, label)
    if folder is not None:
        *above, last = _checked_path(name)
        following.edit_folder(folder, name=last, parent=following.folder_at(user, above) if above else None)
    if tag_id is not None:
        following.rename_tag(user, tag_id, name.name)


@transaction.atomic
def delete_labels(user: User, labels: Collection[Stream]) -> None:
    """Delete the folder and the tag of each label. Folders that lie in one go with it; all sources stay followed.

    Raises BadStream if the person has no such label.
    """
    for folder, tag_id in [_labelled(user, label) for label in labels]:
        if folder is not None:
            following.delete_folder(folder)
        if tag_id is not None:
            following.delete_tag(user, tag_id)


def _labelled(user: User, label: Stream) -> tuple[Folder | None, int | None]:
    labels = labels_of(user)
    found = labels.folders.get(label.name), labels.tags.get(label.name)
    if label.kind != "label" or found == (None, None):
        raise BadStream(f"You have no label “{label.name[:200]}”.")
    return found


# --- subscriptions ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """A feed, and the person's own name for it; empty: as it was."""

    feed: Stream
    title: str = ""


def subscribe(user: User, wishes: Sequence[SubscriptionChange], *, added: Collection[Stream], now: datetime) -> None:
    """Follow feeds, in the folders of some labels.

    One that nobody here knows is looked at first, and may be a page that names its feed. Of several the addresses are
    taken as they stand in the list of another reader: to look at each of them might take minutes. Raises BadStream if a
    number is that of no source, or a label is none, and NotPossible if nothing to follow is found, or the person would
    have too much of something, and TooOften if the portal does not know the address, and the person had too many such
    looked at within the hour.
    """
    _require_possible(wishes, added)
    feeds = [wish.feed for wish in wishes]
    known = present_sources(user, feeds)
    unknown = {feed: _address(feed) for feed in feeds if feed not in known}
    if len(unknown) == 1:
        [(feed, address)] = unknown.items()
        known[feed] = _found(retrieval.follow_address(user, address, now=now))
    elif unknown:
        document = OpmlDocument(subscriptions=tuple(Subscription(address) for address in set(unknown.values())))
        if skipped := retrieval.import_list(user, document, now=now).skipped:
            raise NotPossible(skipped[0].reason)
        by_address = sources.by_address(set(unknown.values()))
        known |= {feed: by_address[address] for feed, address in unknown.items()}
    _follow(user, {known[wish.feed]: wish.title for wish in wishes}, added, now)


@transaction.atomic
def _follow(user: User, titles: Mapping[int, str], added: Collection[Stream], now: datetime) -> None:
    retrieval.follow_all(user, list(titles), now=now)
    _arrange(user, titles, added, ())


@transaction.atomic
def edit_subscriptions(
    user: User, wishes: Sequence[SubscriptionChange], *, added: Collection[Stream], removed: Collection[Stream]
) -> None:
    """Name followed feeds, put them into the folders of some labels, and take them out of those of others.

    Raises BadStream if one of them is not followed, or a label is none, and NotPossible if a title is too long, or the
    person would have too many folders.
    """
    _require_possible(wishes, added)
    found = known_sources(user, [wish.feed for wish in wishes])
    _arrange(user, {found[wish.feed]: wish.title for wish in wishes}, added, removed)


@transaction.atomic
def unsubscribe(user: User, feeds: Sequence[Stream], *, now: datetime) -> None:
    """Follow feeds no more; one that is not followed stays so. Raises BadStream if there is no such feed."""
    for source_id in known_sources(user, feeds).values():
        retrieval.unfollow(user, source_id, now=now)


def quick_add(user: User, address: str, *, now: datetime) -> Discovery:
    """Follow the feed at an address; of a page that names several the first, since no client can choose here.

    Raises TooOften if the portal does not know the address, and the person had too many such looked at within the hour,
    and NotPossible if the person would follow too many.
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
    folders = [labels.get(stream.name) or following.folder_at(user, _checked_path(stream)) for stream in added]
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
        following.edit_follow(follow, title=own, folders=within.values())


def _require_possible(wishes: Sequence[SubscriptionChange], added: Collection[Stream]) -> None:
    """What can be told before anything is done: to look at an address cannot be undone."""
    if any(len(wish.title) > MAX_TITLE_LENGTH for wish in wishes):
        raise NotPossible(f"A title has at most {MAX_TITLE_LENGTH:,} characters.")
    for label in added:
        _checked_path(label)


def _checked_path(label: Stream) -> tuple[str, ...]:
    """The names of the folders on the way to a label's, from the outermost.

    Raises BadStream if it is no label, or no folder can be called so.
    """
    path = tuple(" ".join(name.split()) for name in path_of(label.name))
    if label.kind != "label" or not all(path) or max(map(len, path)) > MAX_NAME_LENGTH:
        raise BadStream(f"“{label}” is no label: each part has from 1 to {MAX_NAME_LENGTH} characters.")
    return path
