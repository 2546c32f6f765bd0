"""Which postings a stream holds for the person who asks."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.api.dialects.google_reader.formats.items import BROADCAST, READ, STARRED
from apps.api.dialects.google_reader.formats.streams import READING_LIST, BadStream, Stream
from apps.api.dialects.google_reader.queries.labels import Labels, labels_of
from apps.following import queries as following
from apps.following.queries import Scope, listing
from apps.following.queries.listing import Arrival
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, normalise

UNREAD = Stream("state", "unread")  # not of Google's, but of those who came after
# What is so of postings with their state, and what is otherwise: a negation would not let indexes of marks be used.
_STATES = {
    "read": (Q(unread=False), Q(unread=True)),
    "unread": (Q(unread=True), Q(unread=False)),
    "kept-unread": (Q(my_mark__read=False), Q(my_mark__read__isnull=True) | Q(my_mark__read=True)),
    "fresh": (Q(unread=True, my_mark__read__isnull=True), Q(unread=False) | Q(my_mark__read=False)),
    "starred": (Q(my_mark__starred_at__isnull=False), Q(my_mark__starred_at__isnull=True)),
}


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What a client asks of one stream, or of some as if they were one."""

    streams: tuple[Stream, ...]
    limit: int
    excluded: tuple[Stream, ...] = ()
    included: tuple[Stream, ...] = ()
    oldest_first: bool = False
    start: Cursor | None = None  # where the part before ended
    arrival: Arrival | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The first so many postings of what was asked, in their order."""

    ids: tuple[int, ...]
    continuation: str  # "" at the end


@dataclass(slots=True)
class Library:
    """What a person's streams hold. Their labels are looked up when one is named."""

    user: User
    _labels: Labels | None = field(default=None, init=False)

    @property
    def labels(self) -> Labels:
        if self._labels is None:
            self._labels = labels_of(self.user)
        return self._labels

    def scopes(self, stream: Stream) -> list[Scope]:
        """The lists of the person's that a stream is made of, or chosen from by its state.

        Raises BadStream if they have no such feed or label, or there is no such state.
        """
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
    def part(self, asked: StreamRequest) -> Part:
        """What comes next in a stream, by a number of queries that does not grow with it; as many for each further one.

        The order is that of the portal's own lists: by publication. What a continuation says is a place in that order,
        which stays where it is when news arrive.
        """
        found: set[Cursor] = set()
        for stream in asked.streams:
            for scope in self.scopes(stream):
                found.update(self._places(stream, scope, asked))
        places = sorted(found, reverse=not asked.oldest_first)
        shown = places[: asked.limit]
        continuation = shown[-1].encode() if len(places) > asked.limit else ""
        return Part(tuple(place.id for place in shown), continuation)

    def count(self, stream: Stream) -> int:
        first, *others = [self._held(stream, scope).order_by().values("pk") for scope in self.scopes(stream)]
        return first.union(*others).count() if others else first.count()

    def newest_at(self, stream: Stream) -> datetime | None:
        """When the newest posting of a stream was published."""
        newest = self.part(StreamRequest((stream,), 1)).ids
        return postings.everything().filter(pk__in=newest).values_list("published_at", flat=True).first()

    def _places(self, stream: Stream, scope: Scope, asked: StreamRequest) -> list[Cursor]:
        if self._is_plain(stream, scope, asked):
            return listing.positions(
                self.user,
                scope,
                unread_only=bool(asked.excluded or asked.included) or stream == UNREAD,
                oldest_first=asked.oldest_first,
                start=asked.start,
                limit=asked.limit + 1,
                arrival=asked.arrival,
            )
        return self._places_by_state(stream, scope, asked)

    def _is_plain(self, stream: Stream, scope: Scope, asked: StreamRequest) -> bool:
        """Whether the portal's own lists show just that: all of what is followed, or what is unread of it."""
        if stream.kind == "state" and stream not in (READING_LIST, UNREAD):
            return False
        if not (set(asked.excluded) <= {READ} and set(asked.included) <= {UNREAD}):
            return False
        if scope.kind == "source":
            return following.follow_of(self.user, scope.id) is not None
        return scope.kind in ("all", "folder")

    def _places_by_state(self, stream: Stream, scope: Scope, asked: StreamRequest) -> list[Cursor]:
        found = self._held(stream, scope)
        for other in asked.included:
            found = found.filter(self._condition(other)[0])
        for other in asked.excluded:
            found = found.filter(self._condition(other)[1])
        if asked.arrival is not None:
            found = found.filter(retrieved_at__gte=asked.arrival.since, retrieved_at__lte=asked.arrival.until)
        if asked.start is not None:
            found = (postings.after if asked.oldest_first else postings.before)(found, asked.start)
        ordered = (postings.oldest if asked.oldest_first else postings.newest)(found)
        return [Cursor(at, id) for at, id in ordered.values_list("published_at", "pk")[: asked.limit + 1]]

    # --- what streams hold --------------------------------------------------------------------------------------------
    def _held(self, stream: Stream, scope: Scope) -> QuerySet[Posting]:
        """All postings of a stream that are in one of its lists, with their state."""
        if stream == BROADCAST:
            held = following.readable_by(self.user).filter(self._condition(BROADCAST)[0])
        else:
            held = following.postings_in(self.user, scope)
        held = following.with_state(held, self.user)
        return held.filter(_STATES[stream.name][0]) if stream.kind == "state" and stream.name in _STATES else held

    def _condition(self, stream: Stream) -> tuple[Q, Q]:
        """That a posting with its state is in a stream, and that it is not."""
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
    """The source of each feed, by its number or its address, as long as the person may see it.

    Raises BadStream if there is none, or one of them is no feed.
    """
    wanted = list(dict.fromkeys(feeds))
    found = present_sources(user, wanted)
    for feed in wanted:
        if feed not in found:
            raise BadStream(f"There is no “{feed}”.")
    return found


def present_sources(user: User, feeds: Iterable[Stream]) -> dict[Stream, int]:
    """The same of those that there are."""
    named = {feed: _address(feed) for feed in feeds if feed.kind == "feed"}
    by_address = sources.by_address(set(filter(None, named.values())))
    found = {
        feed: by_address.get(address, 0) if address else int(feed.name) if _is_number(feed.name) else 0
        for feed, address in named.items()
    }
    visible = following.visible_sources(user).filter(pk__in=set(found.values()))
    there = set(visible.order_by().values_list("pk", flat=True))
    return {feed: source_id for feed, source_id in found.items() if source_id in there}


def _address(feed: Stream) -> str:
    """Normalised; "" where it is no address."""
    try:
        return "" if _is_number(feed.name) else normalise(feed.name)
    except BadAddress:
        return ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 18
