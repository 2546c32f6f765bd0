"""What is unread after whatever people, publishers and admins do: a plain dictionary knows it as well."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.alerts.algorithms.percolator.documents import read
from apps.alerts.models import Hit
from apps.alerts.queries.candidates import DocumentViews
from apps.dashboard.actions import merge_sources
from apps.following import actions, queries
from apps.following.actions import follows, marking
from apps.following.actions.marking import Marked
from apps.following.queries import Scope, listing
from apps.following.queries.states import posting_state
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.search.models import SavedSearch
from apps.sources.models import Source
from apps.web.pages import sidebar
from tests.apps.following.searched import surely_unread
from tests.builders import NOON, a_folder, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
FIRST = 2  # unread postings of a new follow


@dataclass
class Twin:
    """Sets of postings, and for each source that is followed since when its postings are unread."""

    user: object
    sources: list[Source]
    folder: object
    now: object = NOON
    postings: dict[int, Posting] = field(default_factory=dict)
    since: dict[int, object] = field(default_factory=dict)
    filed: set[int] = field(default_factory=set)
    unread: set[int] = field(default_factory=set)
    marked_read: set[int] = field(default_factory=set)  # singly or with a list
    starred: set[int] = field(default_factory=set)
    tagged: set[int] = field(default_factory=set)
    undos: dict[int, set[int]] = field(default_factory=dict)

    def of(self, source: Source) -> list[Posting]:
        return [posting for posting in self.postings.values() if posting.source_id == source.pk]

    # --- what happens -------------------------------------------------------------------------------------------------
    def arrive(self, source: Source, minutes: int, link: int) -> None:
        key = bytes([link] * 16) if link else b""
        if link and any(bytes(other.link_key) == key for other in self.of(source)):
            return
        published = NOON + minutes * MINUTE
        posting = a_posting(source, published_at=published, retrieved_at=self.now, link_key=key)
        self.postings[posting.pk] = posting
        if source.pk in self.since and published >= self.since[source.pk]:
            self.unread.add(posting.pk)

    def follow(self, source: Source, is_filed: bool) -> None:
        folders = [self.folder.pk] if is_filed else []
        fresh = actions.follows.follow(self.user, [source.pk], now=self.now, folder_ids=folders)
        assert fresh == ([] if source.pk in self.since else [source.pk])
        if is_filed:
            self.filed.add(source.pk)
        if fresh:
            dates = sorted((posting.published_at for posting in self.of(source)), reverse=True)
            begin = dates[FIRST - 1] if len(dates) >= FIRST else self.now - actions.follows.UNREAD_AT_FIRST_FOR
            self.since[source.pk] = begin
            new = {posting.pk for posting in self.of(source) if posting.published_at >= begin}
            self.unread |= new - self.marked_read

    def unfollow(self, source: Source) -> None:
        assert actions.follows.unfollow(self.user, source.pk) == (source.pk in self.since)
        if self.since.pop(source.pk, None):
            self.unread -= {posting.pk for posting in self.of(source)}
            self.undos = {number: set() for number in self.undos}
            self.filed.discard(source.pk)

    def mark(self, posting: Posting, is_read: bool) -> None:
        actions.marks.mark_read(self.user, [posting.pk], read=is_read, now=self.now)
        (self.unread.discard if is_read else self.unread.add)(posting.pk)
        (self.marked_read.add if is_read else self.marked_read.discard)(posting.pk)
        for turned in self.undos.values():
            turned.discard(posting.pk)

    def star(self, posting: Posting, is_on: bool) -> None:
        actions.marks.star(self.user, posting.pk, starred=is_on, now=self.now)
        (self.starred.add if is_on else self.starred.discard)(posting.pk)

    def tag(self, posting: Posting) -> None:
        actions.marks.tag(self.user, [posting.pk], "later", self.now)
        self.tagged.add(posting.pk)

    def mark_all(self, kind: str, source: Source, shown: int, before: int | None) -> None:
        shown_at = NOON + shown * MINUTE
        limit = None if before is None else NOON + before * MINUTE
        turned = {
            pk
            for pk in self.unread & set(self.listed(kind, source))
            if self.postings[pk].retrieved_at <= shown_at and (limit is None or self.postings[pk].published_at < limit)
        }
        marked = actions.marking.mark_all_read(
            self.user, self.scope(kind, source), shown_at=shown_at, now=self.now, before=limit
        )
        assert marked.count == len(turned)
        if not turned:
            assert marked == Marked(0, None)
            return
        self.unread -= turned
        self.marked_read |= turned
        self.undos[marked.undo] = turned

    def undo(self, which: int) -> None:
        if self.undos:
            number = list(self.undos)[which % len(self.undos)]
            assert actions.marking.undo_mark_all(self.user, number, now=self.now) == len(self.undos[number])
            self.unread |= self.undos[number]
            self.marked_read -= self.undos[number]
            self.undos[number] = set()

    def advance(self) -> None:
        marking.advance(self.user, now=self.now)

    def merge(self, kept: Source, merged: Source) -> None:
        if kept == merged:
            return
        pairs = {
            theirs.pk: ours.pk
            for theirs in self.of(merged)
            for ours in self.of(kept)
            if bytes(theirs.link_key) and bytes(theirs.link_key) == bytes(ours.link_key)
        }
        unmarked = {posting.pk for posting in (*self.of(kept), *self.of(merged))} - self.marked_read - self.unread
        merge_sources(kept.pk, merged.pk, now=self.now)
        self.sources.remove(merged)
        for theirs, ours in pairs.items():
            if self.marked_read & {theirs, ours}:
                self.unread.discard(ours)
                self.marked_read.add(ours)
            elif theirs in self.unread:
                self.unread.add(ours)
            del self.postings[theirs]
            for turned in self.undos.values():
                turned -= {theirs, ours}
            for known in (self.unread, self.marked_read, self.starred, self.tagged):
                if theirs in known and known is self.starred:
                    known.add(ours)
                known.discard(theirs)
        for posting in self.postings.values():
            posting.source_id = kept.pk if posting.source_id == merged.pk else posting.source_id
        begins = [self.since.pop(source.pk) for source in (kept, merged) if source.pk in self.since]
        if begins:
            self.since[kept.pk] = min(begins)
            self.undos = {number: set() for number in self.undos}
        if merged.pk in self.filed:
            self.filed = self.filed - {merged.pk} | {kept.pk}
        if len(begins) == 1:  # postings of the source not followed have no marks: id and date decide
            seen = queries.with_state(Posting.objects.filter(pk__in=unmarked - pairs.keys()), self.user)
            self.unread |= {posting.pk for posting in seen if posting.unread} - {
                ours for theirs, ours in pairs.items() if theirs in self.marked_read
            }

    # --- what must hold then ------------------------------------------------------------------------------------------
    def scope(self, kind: str, source: Source) -> Scope:
        tags = queries.tags_of(self.user).values_list("pk", flat=True)
        return Scope(kind, {"folder": self.folder.pk, "source": source.pk, "tag": next(iter(tags), 0)}.get(kind, 0))

    def listed(self, kind: str, source: Source) -> Iterator[int]:
        for pk, posting in self.postings.items():
            if {
                "all": posting.source_id in self.since,
                "folder": posting.source_id in self.since.keys() & self.filed,
                "source": posting.source_id == source.pk,
                "starred": pk in self.starred,
                "tag": pk in self.tagged,
            }[kind]:
                yield pk

    def check(self) -> None:
        seen = {posting.pk: posting for posting in queries.with_state(Posting.objects.all(), self.user)}
        assert seen.keys() == self.postings.keys()
        assert {pk for pk, posting in seen.items() if posting.unread} == self.unread
        counts = dict.fromkeys(self.since, 0)
        for pk in self.unread:
            if self.postings[pk].source_id in self.since:
                counts[self.postings[pk].source_id] += 1
        assert queries.unread_counts(self.user) == {source: count for source, count in counts.items() if count}

    def check_each(self) -> None:
        for pk in self.postings:
            own = posting_state(self.user, pk)
            assert (own.unread, own.starred) == (pk in self.unread, pk in self.starred)

    def check_lists(self) -> None:
        for kind in ("all", "folder"):
            mine = set(self.listed(kind, self.sources[0]))
            for unread_only in (False, True):
                wanted = mine & self.unread if unread_only else mine
                for oldest_first in (False, True):
                    ordered = sorted(wanted, key=lambda pk: (self.postings[pk].published_at, pk))
                    found = self.paged(kind, unread_only, oldest_first)
                    assert found == (ordered if oldest_first else ordered[::-1])

    def paged(self, kind: str, unread_only: bool, oldest_first: bool) -> list[int]:
        found: list[int] = []
        start = None
        while places := listing.positions(
            self.user,
            self.scope(kind, self.sources[0]),
            unread_only=unread_only,
            oldest_first=oldest_first,
            start=start,
            limit=2,
        ):
            assert len(found) % 2 == 0  # the pages before are full
            found += [place.id for place in places]
            start = Cursor(self.postings[found[-1]].published_at, found[-1])
        return found

    def check_others(self) -> None:
        """Searches and alerts say the same; of sources that are not followed, searches know what was marked unread."""
        everything = list(self.postings.values())
        assert surely_unread(self.user, everything) == self.unread
        readings = {
            posting.pk: read(
                posting.title,
                posting.text,
                declared_language="en",
                source_id=posting.source_id,
                source_names=[],
                own_names=[],
                categories=[],
                author="",
                published_at=posting.published_at,
            )
            for posting in everything
        }
        observers = DocumentViews([self.user.pk], readings)
        unread = {pk for pk, reading in readings.items() if observers.of(self.user.pk, pk, reading).unread}
        assert unread == self.unread

    def check_searches(self) -> None:
        """The sidebar counts the unread ones among the newest postings that a search has found."""
        search = SavedSearch.objects.create(user=self.user, name="All", query="word", saved_at=NOON)
        for pk, posting in self.postings.items():
            times = {"published_at": NOON, "retrieved_at": NOON, "found_at": NOON}
            Hit.objects.create(saved=search, posting_id=pk, source_id=posting.source_id, **times)
        newest = set(sorted(self.postings)[-3:])
        with patch.object(sidebar, "MAX_HITS_COUNTED", 3):
            [counted] = sidebar.sidebar(self.user).searches
        assert counted.unread == len(newest & self.unread)


number = st.integers(0, 11)
minute = st.integers(0, 12)
steps = st.one_of(
    st.tuples(st.just("arrive"), number, minute, st.integers(0, 2)),
    st.tuples(st.just("arrive"), number, minute, st.just(0)),
    st.tuples(st.just("follow"), number, st.booleans()),
    st.tuples(st.just("unfollow"), number),
    st.tuples(st.just("mark"), number, st.booleans()),
    st.tuples(st.just("star"), number, st.booleans()),
    st.tuples(st.just("tag"), number),
    *[
        st.tuples(st.just("mark_all"), st.just(kind), number, minute, st.one_of(st.none(), minute))
        for kind in ("all", "all", "folder", "source", "starred", "tag")
    ],
    st.tuples(st.just("undo"), st.integers(0, 3)),
    st.tuples(st.just("undo"), st.integers(0, 3)),
    st.tuples(st.just("merge"), number, number),
    st.tuples(st.just("advance")),
)


def take(twin: Twin, name: str, values: list[object]) -> None:
    if name in {"mark", "star", "tag"}:
        if not twin.postings:
            return
        values[0] = list(twin.postings.values())[values[0] % len(twin.postings)]
    elif name not in {"undo", "advance"}:
        places = {"merge": (0, 1), "mark_all": (1,)}.get(name, (0,))
        for place in places:
            values[place] = twin.sources[values[place] % len(twin.sources)]
    getattr(twin, name)(*values)


class TestWhateverHappens(TestCase):
    @given(st.lists(steps, min_size=4, max_size=18))
    def test_all_queries_of_unread_postings_agree(self, happenings):
        user = a_user()
        sources = [a_source(listed=True) for _ in range(3)]
        twin = Twin(user, sources, a_folder(user))
        for source in sources[:2]:
            twin.follow(source, is_filed=source is sources[0])
        with (
            patch.object(follows, "UNREAD_AT_FIRST", FIRST),
            patch.object(listing, "WALKED", 3),
            patch.object(listing, "MAX_SOURCES", 2),
            patch.object(marking, "WORTHWHILE", 1),
        ):
            for name, *values in happenings:
                twin.now += MINUTE
                take(twin, name, values)
                twin.check()
            twin.check_each()
            twin.check_lists()
            twin.check_others()
            twin.check_searches()
