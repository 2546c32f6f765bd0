"""The sidebar: a user's folders, sources, searches and tags."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from apps.accounts.models import User
from apps.database.statements import fetch_as
from apps.feed_health.queries import MAX_SHOWN
from apps.following import queries as following
from apps.following.actions.counting import store_counts
from apps.following.algorithms.ordering import natural_key
from apps.following.models import Follow
from apps.following.queries import FollowedSource, Scope
from apps.following.queries.counts import Unread
from apps.following.queries.states import UNREAD, StateTag
from apps.search.queries.addresses import query_address
from apps.web.pages.rows import icon_address


class SidebarSource(NamedTuple):
    follow: FollowedSource
    found: Unread  # of a muted one not counted elsewhere
    unread: int  # its count, which a page reads several times

    @property
    def name(self) -> str:
        """Of its element."""
        return f"source-{self.follow.source_id}"

    @property
    def icon(self) -> str:
        """Its address, or empty."""
        return icon_address(self.follow.icon)


class SidebarFolder(NamedTuple):
    folder_id: int
    name: str
    unread: int
    sources: tuple[SidebarSource, ...]
    folders: tuple["SidebarFolder", ...]


class SidebarSearch(NamedTuple):
    search_id: int
    name: str
    address: str
    unread: int  # of the newest postings that it found


class Sidebar(NamedTuple):
    unread: int
    folders: tuple[SidebarFolder, ...]
    sources: tuple[SidebarSource, ...]  # those in no folder
    searches: tuple[SidebarSearch, ...]
    tags: tuple[StateTag, ...]
    at: Scope | None  # of the page
    notices: int  # feed health notices that are not dismissed
    is_direct: bool  # whether pictures of some source are loaded from its own site
    current: SidebarSource | None  # of the page

    @property
    def unread_here(self) -> int | None:
        """Of the page's list; None if it is not counted."""
        return dict(self.counts()).get(self.name_here)

    @property
    def name_here(self) -> str:
        if self.at is None:
            return ""
        return self.at.kind if self.at.kind == "all" else f"{self.at.kind}-{self.at.id}"

    @property
    def shown(self) -> object:
        """Equal if pages show the same."""
        folders = [(each.name, len(each.sources), len(each.folders)) for each in _with_inner(self.folders)]
        sources = chain(self.sources, *(folder.sources for folder in _with_inner(self.folders)))
        feeds = [(each.title, each.failing, each.is_gone, each.muted, each.icon) for each, _found, _unread in sources]
        return self.at, self.notices, self.is_direct, list(self.counts()), folders, feeds, self.searches, self.tags

    def counts(self) -> Iterator[tuple[str, int]]:
        """Every number of the sidebar by the name of its element."""
        yield "all", self.unread
        yield from ((f"search-{search.search_id}", search.unread) for search in self.searches)
        yield from ((source.name, source.unread) for source in self.sources)
        for folder in _with_inner(self.folders):
            yield f"folder-{folder.folder_id}", folder.unread
            yield from ((source.name, source.unread) for source in folder.sources)


def _with_inner(folders: Iterable[SidebarFolder]) -> Iterator[SidebarFolder]:
    for folder in folders:
        yield folder
        yield from _with_inner(folder.folders)


class _Own(NamedTuple):
    """A named thing of the user."""

    kind: str
    id: int
    parent_id: int | None
    position: int
    name: str
    query: str
    order: str
    unread: int


MAX_HITS_COUNTED = 50  # per search, the newest
STORED_FROM = 200  # unread postings: counting fewer again takes less than storing their number
# One statement, since there are few of each and every page needs them.
_OWN = f"""
SELECT 'folder' AS kind, id, parent_id, position, name, '' AS query, '' AS "order", 0 AS unread
FROM following_folder WHERE user_id = %(user)s
UNION ALL
SELECT 'search', id, NULL, 0, name, query, "order", (
    SELECT count(*) FROM (
        SELECT posting_id FROM alerts_hit WHERE saved_id = saved.id ORDER BY posting_id DESC LIMIT %(most)s) hit
    JOIN postings_posting posting ON posting.id = hit.posting_id
    LEFT JOIN following_follow follow ON follow.user_id = %(user)s AND follow.source_id = posting.source_id
    LEFT JOIN following_mark mark ON mark.user_id = %(user)s AND mark.posting_id = posting.id
    WHERE {UNREAD})
FROM search_savedsearch saved WHERE user_id = %(user)s AND plain IS NULL
UNION ALL
SELECT 'tag', id, NULL, 0, name, '', '', 0 FROM following_tag WHERE user_id = %(user)s
UNION ALL
SELECT 'notices', 0, NULL, 0, '', '', '', count(*) FROM (
    SELECT FROM feed_health_notice WHERE user_id = %(user)s AND dismissed_at IS NULL LIMIT %(notices)s) notice
"""


def sidebar(user: User, at: Scope | None = None) -> Sidebar:
    """Two queries, and one more that stores what many unread postings were counted for."""
    entries = [SidebarSource(*each, each[1].count) for each in following.counted_sources(user)]
    if sum(entry.found.arrived for entry in entries) >= STORED_FROM:
        store_counts(user)
    here = at.id if at and at.kind == "source" else None
    own = fetch_as(_Own, _OWN, {"user": user.pk, "most": MAX_HITS_COUNTED, "notices": MAX_SHOWN}, generic=True)
    own.sort(key=lambda each: (each.position, natural_key(each.name), each.id))
    within: dict[int | None, list[SidebarSource]] = {}
    for entry in entries:
        for folder_id in entry.follow.folder_ids or (None,):
            within.setdefault(folder_id, []).append(entry)
    return Sidebar(
        unread=Unread.of_all(entry.found for entry in entries if not entry.follow.muted).count,
        folders=_tree([each for each in own if each.kind == "folder"], within, None),
        sources=tuple(within.get(None, ())),
        searches=tuple(
            SidebarSearch(each.id, each.name, query_address(each.query, each.order), each.unread)
            for each in own
            if each.kind == "search"
        ),
        tags=tuple(StateTag(each.id, each.name) for each in own if each.kind == "tag"),
        at=at,
        notices=sum(each.unread for each in own if each.kind == "notices"),
        is_direct=any(entry.follow.images == Follow.Images.DIRECT for entry in entries),
        current=next((entry for entry in entries if entry.follow.source_id == here), None),
    )


def _tree(
    folders: Sequence[_Own], within: dict[int | None, list[SidebarSource]], parent_id: int | None
) -> tuple[SidebarFolder, ...]:
    return tuple(
        _with_contents(folder, tuple(within.get(folder.id, ())), _tree(folders, within, folder.id))
        for folder in folders
        if folder.parent_id == parent_id
    )


def _with_contents(folder: _Own, sources: tuple[SidebarSource, ...], below: tuple[SidebarFolder, ...]) -> SidebarFolder:
    # A source in several of the folders is counted once, as is an article of several sources; not a muted one.
    inside = chain(sources, *(folder.sources for folder in _with_inner(below)))
    found = {source.follow.source_id: source.found for source in inside if not source.follow.muted}
    return SidebarFolder(folder.id, folder.name, Unread.of_all(found.values()).count, sources, below)
