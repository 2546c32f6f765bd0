"""Labels, and the postings of streams."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import F, Q, QuerySet

from apps.accounts.models import User
from apps.database.statements import among
from apps.following import queries as following
from apps.following.models import Folder
from apps.following.queries import Scope, listing
from apps.following.queries.listing import Arrival
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, absolute, normalise
from apps.sources.formats.feed import Enclosure
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.rows import article_for_programs
from extensions.dialects.google_reader.formats.items import BROADCAST, FRESH, KEPT_UNREAD, READ, STARRED, Item
from extensions.dialects.google_reader.formats.streams import READING_LIST, BadStream, Stream, label_of

UNREAD = Stream("state", "unread")  # an extension of later servers
# Conditions that a state holds, and that it does not: a negation could not use the indexes of marks.
_STATES = {
    "read": (Q(unread=False), Q(unread=True)),
    "unread": (Q(unread=True), Q(unread=False)),
    "kept-unread": (Q(my_mark__read=False), Q(my_mark__read__isnull=True) | Q(my_mark__read=True)),
    "fresh": (Q(unread=True, my_mark__read__isnull=True), Q(unread=False) | Q(my_mark__read=False)),
    "starred": (Q(my_mark__starred_at__isnull=False), Q(my_mark__starred_at__isnull=True)),
}


class Labels(NamedTuple):
    """A label can be a folder and a tag: Google Reader does not distinguish them."""

    folders: Mapping[str, Folder]  # by label, sorted
    tags: Mapping[str, int]  # ids by name


def labels_of(user: User) -> Labels:
    """Two queries."""
    folders = list(following.folders_of(user))
    paths = following.folder_paths(folders)
    by_label = sorted((label_of(paths[folder.pk]), folder) for folder in folders)
    return Labels(dict(by_label), dict(following.tags_of(user).values_list("name", "pk")))


def labels_by_source(user: User, labels: Labels) -> dict[int, tuple[str, ...]]:
    """The folder labels of each followed source. One query."""
    names = {folder.pk: label for label, folder in labels.folders.items()}
    filed = following.folders_by_source(user)
    return {source_id: tuple(sorted(names[id] for id in ids if id in names)) for source_id, ids in filed.items()}


class StreamRequest(NamedTuple):
    """A request for a part of one stream, or of several merged ones."""

    streams: tuple[Stream, ...]
    limit: int
    excluded: tuple[Stream, ...] = ()
    included: tuple[Stream, ...] = ()
    oldest_first: bool = False
    start: Cursor | None = None  # the end of the part before
    arrival: Arrival | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The requested postings, in order."""

    ids: tuple[int, ...]
    continuation: str  # "" at the end


@dataclass
class Library:
    """A user's streams. Labels are read when one is named."""

    user: User

    @cached_property
    def labels(self) -> Labels:
        return labels_of(self.user)

    def scopes(self, stream: Stream) -> list[Scope]:
        """The user's lists that contain a stream's postings. Raises BadStream if there is no such stream."""
        if stream.kind == "feed":
            return [Scope("source", known_sources(self.user, [stream])[stream])]
        if stream.kind == "label":
            return self._scopes_of_label(stream)
        if stream == STARRED:
            return [Scope("starred")]
        if stream in (READING_LIST, BROADCAST) or stream.name in _STATES:
            return [Scope("all")]
        raise BadStream(f"“{stream}” is no stream that is kept here.")

    def _scopes_of_label(self, stream: Stream) -> list[Scope]:
        folder, tag_id = self.labels.folders.get(stream.name), self.labels.tags.get(stream.name)
        found = [Scope("folder", folder.pk)] if folder else []
        if tag_id is not None:
            found.append(Scope("tag", tag_id))
        if not found:
            raise BadStream(f"You have no label “{stream.name[:200]}”.")
        return found

    # --- parts of streams ---------------------------------------------------------------------------------------------
    def part(self, request: StreamRequest) -> Part:
        """The next postings by publication, by a constant number of queries per stream.

        A continuation is a place in this order, which new postings do not shift.
        """
        found: set[Cursor] = set()
        for stream in request.streams:
            for scope in self.scopes(stream):
                found.update(self._places(stream, scope, request))
        places = sorted(found, reverse=not request.oldest_first)
        shown = places[: request.limit]
        continuation = shown[-1].encode() if len(places) > request.limit else ""
        return Part(tuple(place.id for place in shown), continuation)

    def count(self, stream: Stream) -> int:
        first, *others = [self._held(stream, scope).order_by().values("pk") for scope in self.scopes(stream)]
        return first.union(*others).count() if others else first.count()

    def newest_at(self, stream: Stream) -> datetime | None:
        """When the newest posting of a stream was published."""
        newest = self.part(StreamRequest((stream,), 1)).ids
        return postings.everything().filter(pk__in=newest).values_list("published_at", flat=True).first()

    def _places(self, stream: Stream, scope: Scope, request: StreamRequest) -> list[Cursor]:
        if self._is_plain(stream, scope, request):
            return listing.positions(
                self.user,
                scope,
                unread_only=bool(request.excluded or request.included) or stream == UNREAD,
                oldest_first=request.oldest_first,
                start=request.start,
                limit=request.limit + 1,
                arrival=request.arrival,
            )
        return self._places_by_state(stream, scope, request)

    def _is_plain(self, stream: Stream, scope: Scope, request: StreamRequest) -> bool:
        """Whether it is a list of the portal: all or unread postings of follows."""
        if stream.kind == "state" and stream not in (READING_LIST, UNREAD):
            return False
        if not (set(request.excluded) <= {READ} and set(request.included) <= {UNREAD}):
            return False
        if scope.kind == "source":
            return following.follow_of(self.user, scope.id) is not None
        return scope.kind in ("all", "folder")

    def _places_by_state(self, stream: Stream, scope: Scope, request: StreamRequest) -> list[Cursor]:
        found = self._held(stream, scope)
        for other in request.included:
            found = found.filter(self._condition(other)[0])
        for other in request.excluded:
            found = found.filter(self._condition(other)[1])
        if request.arrival is not None:
            found = found.filter(retrieved_at__gte=request.arrival.since, retrieved_at__lte=request.arrival.until)
        ordered = listing.after_place(found, request.start, oldest_first=request.oldest_first)
        return [Cursor(at, id) for at, id in ordered.values_list("published_at", "pk")[: request.limit + 1]]

    # --- contents of streams ------------------------------------------------------------------------------------------
    def _held(self, stream: Stream, scope: Scope) -> QuerySet[Posting]:
        """All postings of a stream in one of its lists, with their state."""
        if stream == BROADCAST:
            held = following.readable_by(self.user).filter(self._condition(BROADCAST)[0])
        else:
            held = following.postings_in(self.user, scope)
        held = following.with_state(held, self.user)
        return held.filter(_STATES[stream.name][0]) if stream.kind == "state" and stream.name in _STATES else held

    def _condition(self, stream: Stream) -> tuple[Q, Q]:
        """Conditions that a posting is in a stream, and that it is not."""
        scopes = self.scopes(stream)
        if stream.kind == "state" and stream.name in _STATES:
            return _STATES[stream.name]
        if stream == BROADCAST:
            shared = Q(pk__in=following.shares_of(self.user).order_by().values("posting_id"))
            return shared, ~shared
        within = Q()
        for scope in scopes:
            within |= self._is_in(scope)
        return within, ~within

    def _is_in(self, scope: Scope) -> Q:
        match scope.kind:
            case "source":
                return Q(source_id=scope.id)
            case "tag":
                return Q(pk__in=following.postings_in(self.user, scope).order_by().values("pk"))
        return Q(source_id__in=following.follows_in(self.user, scope).values("source_id"))


def known_sources(user: User, feeds: Iterable[Stream]) -> dict[Stream, int]:
    """The visible source of each feed, by id or address. Raises BadStream if one is missing."""
    wanted = list(dict.fromkeys(feeds))
    found = present_sources(user, wanted)
    for feed in wanted:
        if feed not in found:
            raise BadStream(f"There is no “{feed}”.")
    return found


def present_sources(user: User, feeds: Iterable[Stream]) -> dict[Stream, int]:
    """The same for the existing ones."""
    named = {feed: _address(feed) for feed in feeds if feed.kind == "feed"}
    by_address = sources.by_address(set(filter(None, named.values())))
    found = {
        feed: by_address.get(address, 0) if address else whole_number(feed.name) or 0 for feed, address in named.items()
    }
    visible = following.visible_sources(user).filter(pk__in=set(found.values()))
    there = set(visible.order_by().values_list("pk", flat=True))
    return {feed: source_id for feed, source_id in found.items() if source_id in there}


def _address(feed: Stream) -> str:
    """The normalised address; "" if it is none."""
    try:
        return "" if whole_number(feed.name) is not None else normalise(feed.name)
    except BadAddress:
        return ""


_COLUMNS = (
    *("id", "title", "url", "author", "html", "guid", "enclosures", "published_at", "edited_at", "retrieved_at"),
    *("unread", "starred", "my_mark__read", "my_follow__muted"),
)


def items(user: User, ids: Sequence[int], labels: Mapping[int, Sequence[str]]) -> list[Item]:
    """The readable postings, in the order of the ids. `labels` are those of folders, by source. Three queries."""
    readable = following.with_state(following.readable_by(user).filter(pk__in=among(ids)), user)
    found = readable.values(
        *_COLUMNS,
        feed_id=F("source_id"),
        site_url=F("source__site_url"),
        source_title=following.first_nonempty("my_follow__title", "source__title", "source__url"),
    )
    rows = {row["id"]: row | {"html": article_for_programs(user, row["html"])} for row in found}
    tags = following.tags_by_posting(user, rows)
    shared = set(following.shares_of(user).filter(posting__in=among(rows)).values_list("posting_id", flat=True))
    return [
        _item(rows[id], [*labels.get(rows[id]["feed_id"], ()), *tags.get(id, ())], id in shared)
        for id in dict.fromkeys(ids)
        if id in rows
    ]


def _item(row: dict[str, Any], labels: Collection[str], is_shared: bool) -> Item:
    states = _states(row, row.pop("my_mark__read"), row.pop("my_follow__muted"), is_shared)
    edited_at, published_at = row.pop("edited_at"), row["published_at"]
    row |= {name: absolute(row[name]) for name in ("url", "site_url")}
    row["enclosures"] = tuple(Enclosure(**each) for each in row["enclosures"] if absolute(each["url"]))
    labelled = (Stream("label", label) for label in dict.fromkeys(labels))
    return Item(**row, updated_at=max(edited_at or published_at, published_at), categories=(*states, *labelled))


def _states(row: Mapping[str, Any], marked_read: bool | None, muted: bool | None, is_shared: bool) -> list[Stream]:
    unread = FRESH if marked_read is None else KEPT_UNREAD
    states = [READING_LIST] if muted is False else []
    states.append(unread if row["unread"] else READ)
    if row["starred"]:
        states.append(STARRED)
    if is_shared:
        states.append(BROADCAST)
    return states
