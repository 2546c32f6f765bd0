"""The list of a person's folders and sources beside every page."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Folder, Tag
from apps.following.queries import Scope
from apps.reading.pages.saved_searches import address_of
from apps.search.queries.saved import saved_searches


@dataclass(frozen=True, slots=True)
class SidebarSource:
    source_id: int
    title: str
    unread: int
    failing: bool


@dataclass(frozen=True, slots=True)
class SidebarFolder:
    folder_id: int
    name: str
    unread: int
    sources: tuple[SidebarSource, ...]
    folders: tuple["SidebarFolder", ...]


@dataclass(frozen=True, slots=True)
class SidebarSearch:
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Sidebar:
    unread: int
    folders: tuple[SidebarFolder, ...]
    sources: tuple[SidebarSource, ...]  # those in no folder
    searches: tuple[SidebarSearch, ...]
    tags: tuple[Tag, ...]
    at: Scope | None  # what the page shows

    def counts(self) -> Iterator[tuple[str, int]]:
        """Every number of the sidebar, under the name that its place on the page has."""
        yield "all", self.unread
        yield from ((f"source-{source.source_id}", source.unread) for source in self.sources)
        waiting = list(self.folders)
        while waiting:
            folder = waiting.pop()
            yield f"folder-{folder.folder_id}", folder.unread
            yield from ((f"source-{source.source_id}", source.unread) for source in folder.sources)
            waiting.extend(folder.folders)


def sidebar(user: User, at: Scope | None = None) -> Sidebar:
    """Six queries, however much the person follows."""
    unread = following.unread_counts(user)
    filed = following.folders_by_follow(user)
    folders = list(following.folders_of(user))
    within: dict[int | None, list[SidebarSource]] = {}
    for follow in following.followed_sources(user):
        entry = SidebarSource(follow.source_id, follow.title, unread.get(follow.source_id, 0), follow.failing)
        for folder_id in filed.get(follow.follow_id, [None]):
            within.setdefault(folder_id, []).append(entry)
    searches = tuple(SidebarSearch(saved.name, address_of(saved)) for saved in saved_searches(user))
    tags = tuple(following.tags_of(user))
    return Sidebar(sum(unread.values()), _tree(folders, within, None), tuple(within.get(None, ())), searches, tags, at)


def _tree(
    folders: list[Folder], within: dict[int | None, list[SidebarSource]], parent_id: int | None
) -> tuple[SidebarFolder, ...]:
    return tuple(
        _with_contents(folder, tuple(within.get(folder.pk, ())), _tree(folders, within, folder.pk))
        for folder in folders
        if folder.parent_id == parent_id
    )


def _with_contents(
    folder: Folder, sources: tuple[SidebarSource, ...], below: tuple[SidebarFolder, ...]
) -> SidebarFolder:
    # A source that lies in several folders below this one is counted once.
    unread = {source.source_id: source.unread for source in sources}
    waiting = list(below)
    while waiting:
        inner = waiting.pop()
        unread.update((source.source_id, source.unread) for source in inner.sources)
        waiting.extend(inner.folders)
    return SidebarFolder(folder.pk, folder.name, sum(unread.values()), sources, below)
