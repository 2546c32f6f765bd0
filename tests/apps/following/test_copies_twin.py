"""One row, one count and one mark for all copies of an article, whatever people and publishers do.

A plain reading of the rules, one posting at a time, says what lists and counts must be.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.following import actions, queries
from apps.following.actions import follows
from apps.following.models import Follow, Mark
from apps.following.queries import Scope, counts, listing
from apps.following.queries.states import posting_state
from apps.postings.actions.duplicates import note_copies
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.reading.pages import river
from apps.reading.pages.river import ListOptions, river_page
from apps.sources.models import Source
from apps.web.pages import sidebar as sidebars
from apps.web.pages.sidebar import Sidebar, sidebar
from tests.apps.following.searched import surely_unread
from tests.builders import NOON, a_folder, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
KEYS = 3


@dataclass
class Reader:
    """Someone with four feeds, two folders, one in the other, and a plain reading of the rules."""

    user: object
    sources: list[Source]
    folders: list[object]
    now: object = NOON
    undos: list[int] = field(default_factory=list)

    # --- what happens -------------------------------------------------------------------------------------------------
    def arrive(self, source: Source, hours: int, key: int) -> None:
        posting = a_posting(source, published_at=NOON + hours * HOUR, retrieved_at=self.now, fold_key=key)
        note_copies([(key, posting.published_at)])

    def edit(self, number: int, key: int) -> None:
        if postings := list(Posting.objects.order_by("pk")):
            posting = postings[number % len(postings)]
            keys = [(each, posting.published_at) for each in (posting.fold_key, key) if each]
            first_copy = posting.first_copy if posting.fold_key == key else None
            Posting.objects.filter(pk=posting.pk).update(fold_key=key, first_copy=first_copy)
            note_copies(keys)

    def expire(self, number: int) -> None:
        if ids := list(Posting.objects.order_by("pk").values_list("pk", flat=True)):
            Posting.objects.filter(pk=ids[number % len(ids)]).delete()

    def follow(self, source: Source, folder: int) -> None:
        folders = [each.pk for each in self.folders[folder : folder + 1]]
        actions.follows.follow(self.user, [source.pk], now=self.now, folder_ids=folders)

    def unfollow(self, source: Source) -> None:
        unread = self.unread()
        if actions.follows.unfollow(self.user, source.pk):
            unread -= {each.pk for each in Posting.objects.filter(source=source)}
        assert self.unread() == unread

    def mute(self, source: Source, is_muted: bool) -> None:
        Follow.objects.filter(user=self.user, source=source).update(muted=is_muted)

    def mark(self, number: int, is_read: bool) -> None:
        if ids := list(Posting.objects.order_by("pk").values_list("pk", flat=True)):
            posting_id = ids[number % len(ids)]
            actions.marks.mark_read(self.user, [posting_id], read=is_read, now=self.now)
            assert posting_id in self.unread() if not is_read else posting_id not in self.unread()

    def mark_all(self, kind: str, source: Source, hours: int | None) -> None:
        scope = self.scope(kind, source)
        meant = [each for each in self.members(scope) if each.pk in self.unread()]
        before = None if hours is None else NOON + hours * HOUR
        meant = [each for each in meant if before is None or each.published_at < before]
        earlier = self.unread()
        marked = actions.marking.mark_all_read(self.user, scope, shown_at=self.now, now=self.now, before=before)
        assert marked.count == len({article(each) for each in meant})
        gone = {article(each) for each in meant}
        assert self.unread() == {pk for pk in earlier if article(Posting.objects.get(pk=pk)) not in gone}
        if marked.undo is not None:
            assert actions.marking.undo_mark_all(self.user, marked.undo, now=self.now) == marked.count
            assert self.unread() == earlier
            again = actions.marking.mark_all_read(self.user, scope, shown_at=self.now, now=self.now, before=before)
            assert again.count == marked.count

    # --- the rules ----------------------------------------------------------------------------------------------------
    def scope(self, kind: str, source: Source) -> Scope:
        folders = {"outer": self.folders[0], "inner": self.folders[1]}
        if kind in folders:
            return Scope("folder", folders[kind].pk)
        return Scope(kind, source.pk if kind == "source" else 0)

    def follow_of(self, posting: Posting) -> Follow | None:
        return Follow.objects.filter(user=self.user, source=posting.source_id).first()

    def is_new(self, posting: Posting) -> bool:
        """Whether it is unread without regard to its copies."""
        mark, follow = Mark.objects.filter(user=self.user, posting=posting).first(), self.follow_of(posting)
        if mark and mark.read is not None:
            return not mark.read
        return bool(follow and posting.pk > follow.read_through and posting.published_at >= follow.unread_from)

    def was_read(self, posting: Posting) -> bool:
        mark, follow = Mark.objects.filter(user=self.user, posting=posting).first(), self.follow_of(posting)
        if mark and mark.read is not None:
            return bool(mark.read)
        return bool(follow and posting.pk <= follow.read_through and posting.published_at >= follow.unread_from)

    def unread(self) -> set[int]:
        everything = list(Posting.objects.all())
        read = {article(each) for each in everything if self.follow_of(each) and self.was_read(each)}
        return {each.pk for each in everything if self.is_new(each) and article(each) not in read}

    def members(self, scope: Scope) -> list[Posting]:
        found = []
        for posting in Posting.objects.all():
            follow = self.follow_of(posting)
            filed = set(follow.folders.values_list("pk", flat=True)) if follow else set()
            within = {self.folders[0].pk: {each.pk for each in self.folders}}.get(scope.id, {scope.id})
            if scope.kind == "source":
                is_in = posting.source_id == scope.id
            else:
                is_in = follow is not None and not follow.muted and (scope.kind == "all" or bool(filed & within))
            if is_in:
                found.append(posting)
        return found

    def shown(self, scope: Scope, unread_only: bool, oldest_first: bool) -> list[int]:
        unread = self.unread()
        members = [each for each in self.members(scope) if not unread_only or each.pk in unread]
        first = {}
        for posting in sorted(members, key=lambda each: each.pk):
            first.setdefault(article(posting), posting)
        ordered = sorted(first.values(), key=lambda each: (each.published_at, each.pk))
        return [each.pk for each in (ordered if oldest_first else reversed(ordered))]

    # --- what must hold -----------------------------------------------------------------------------------------------
    def check(self) -> None:
        unread = self.unread()
        seen = queries.with_state(Posting.objects.all(), self.user)
        assert {each.pk for each in seen if each.unread} == unread
        counted = sidebar(self.user)
        assert counted.unread == self.count(Scope("all"), unread)
        assert numbers(counted) == {
            **{f"folder-{each.pk}": self.count(Scope("folder", each.pk), unread) for each in self.folders},
            **{
                f"source-{pk}": self.count(Scope("source", pk), unread)
                for pk in Follow.objects.filter(user=self.user).values_list("source_id", flat=True)
            },
        }
        apart = queries.unread_counts(self.user)
        own = Posting.objects.filter(pk__in=unread, source__follows__user=self.user).values_list("source_id", flat=True)
        assert apart == Counter(own)

    def count(self, scope: Scope, unread: set[int]) -> int:
        return len({article(each) for each in self.members(scope) if each.pk in unread})

    def check_lists(self, order: str) -> None:
        scopes = [Scope("all"), *(Scope("folder", each.pk) for each in self.folders)]
        scopes += [Scope("source", each.pk) for each in self.sources]
        for scope in scopes:
            for unread_only in (False, True):
                wanted = self.shown(scope, unread_only, order == "oldest")
                assert self.paged(scope, unread_only, order) == wanted
        unread = {article(each) for each in Posting.objects.filter(pk__in=self.unread())}
        for pk in Posting.objects.values_list("pk", flat=True):
            assert posting_state(self.user, pk).unread == (article(Posting.objects.get(pk=pk)) in unread)

    def paged(self, scope: Scope, unread_only: bool, order: str) -> list[int]:
        found: list[int] = []
        start = None
        follow = Follow.objects.filter(user=self.user, source=scope.id).first() if scope.kind == "source" else None
        while True:
            options = ListOptions(unread_only=unread_only, order=order, start=start)
            page = river_page(self.user, scope, "", options, NOON, follow=follow)
            found += [row.id for row in page["rows"]]
            if not page["next"]:
                return found
            assert len(page["rows"]) == river.LENGTH
            start = Cursor.decode(page["next"])

    def check_search(self) -> None:
        everything = list(Posting.objects.all())
        assert surely_unread(self.user, everything) == self.unread()


def article(posting: Posting) -> int:
    return posting.pk if posting.first_copy is None else posting.first_copy


def numbers(counted: Sidebar) -> dict[str, int]:
    return {name: count for name, count in counted.counts() if name != "all"}


number = st.integers(0, 11)
some = st.integers(0, 3)
steps = st.one_of(
    *[st.tuples(st.just("arrive"), some, st.integers(-30, 30), st.integers(0, KEYS))] * 3,
    st.tuples(st.just("edit"), number, st.integers(0, KEYS)),
    st.tuples(st.just("expire"), number),
    st.tuples(st.just("follow"), some, st.integers(0, 2)),
    st.tuples(st.just("unfollow"), some),
    st.tuples(st.just("mute"), some, st.booleans()),
    *[st.tuples(st.just("mark"), number, st.booleans())] * 2,
    st.tuples(
        st.just("mark_all"),
        st.sampled_from(["all", "outer", "inner", "source"]),
        some,
        st.one_of(st.none(), st.integers(-30, 30)),
    ),
)


class TestWhateverHappens(TestCase):
    @given(st.lists(steps, min_size=4, max_size=12), st.sampled_from(["newest", "oldest"]))
    @example([("arrive", 3, 24, 3), ("mark", 0, False), ("arrive", 3, 2, 3)], "newest")
    def test_lists_counts_and_marks_know_articles(self, happenings, order):
        user = a_user()
        outer = a_folder(user, "outer")
        reader = Reader(user, [a_source(listed=True) for _ in range(4)], [outer, a_folder(user, "inner", outer)])
        for source in reader.sources[:3]:
            reader.follow(source, reader.sources.index(source))
        with (
            patch.object(follows, "UNREAD_AT_FIRST", 2),
            patch.object(listing, "WALKED", 3),
            patch.object(listing, "MAX_SOURCES", 2),
            patch.object(listing, "MANY", 2),
            patch.object(river, "LENGTH", 2),
            patch.object(counts, "WORTH_STORING", 1),
            patch.object(sidebars, "STORED_FROM", 1),
        ):
            for name, *values in happenings:
                reader.now += HOUR
                if name in {"arrive", "follow", "unfollow", "mute"}:
                    values[0] = reader.sources[values[0]]
                if name == "mark_all":
                    values[1] = reader.sources[values[1]]
                getattr(reader, name)(*values)
                reader.check()
            reader.check_lists(order)
            reader.check_search()
