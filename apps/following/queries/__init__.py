"""Reads of follows, folders, marks, tags and notes."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from apps.accounts.models import User
from apps.database.statements import among, fetch, fetch_as
from apps.following.algorithms.ordering import natural_key
from apps.following.models import Folder, Follow, Mark, Tag, Tagging
from apps.following.queries.copies import folded, folds
from apps.following.queries.counts import Unread, counting, names_of, unread_counts
from apps.following.queries.own import highlights_of, notes_of, readings_before, share_at, shares_of, unfinished
from apps.following.queries.readable import followed_languages, source_names, starred_elsewhere, visible_source_ids
from apps.following.queries.states import first_nonempty, unread, with_state
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.postings.queries.recognition import link_key_of
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import hosts_only
from apps.sources.formats.opml import OpmlDocument, Subscription
from apps.sources.kinds import delivered
from apps.sources.models import Source

Kind = Literal["all", "starred", "tag", "folder", "source", "sources"]
FAILURES_SHOWN = 3  # in a row, until followers see that a source is failing


class Scope(NamedTuple):
    """A list of a user: all, starred, a tag, a folder with its subfolders, a source, several sources."""

    kind: Kind
    id: int = 0
    sources: tuple[int, ...] = ()  # of "sources"


class FollowedSource(NamedTuple):
    follow_id: int
    source_id: int
    title: str  # the user's own, else the source's
    position: int
    failing: bool
    failing_since: datetime | None
    answered_at: datetime | None  # the last successful check
    is_gone: bool
    was_checked: bool  # whether the result of a check is stored
    muted: bool
    images: str
    followed_at: datetime
    icon: str  # its digest, or empty
    folder_ids: list[int]


# Part of every page: a raw statement is prepared once, and not composed by the ORM.
_COLUMNS = """follow.id AS follow_id, follow.source_id, named.title, position,
    coalesce(consecutive_failures >= %(failures)s, false) AS failing, failing_since, observed_at AS answered_at,
    source.state = %(gone)s AS is_gone,
    -- checked, and not just being checked for the first time
    coalesce(observed_at IS NOT NULL OR requested_at IS NOT NULL AND worker = '', false) AS was_checked,
    muted, follow.images, followed_at, coalesce(source.icon_id, '') AS icon,
    ARRAY(SELECT folder_id FROM following_follow_folders filed WHERE filed.follow_id = follow.id) AS folder_ids"""
_JOINED = """JOIN sources_source source ON source.id = follow.source_id
LEFT JOIN retrieval_schedule schedule ON schedule.source_id = source.id
CROSS JOIN LATERAL (SELECT coalesce(nullif(follow.title, ''), nullif(source.title, ''), source.url) AS title) named"""
_FOLLOWED = f"SELECT {_COLUMNS} FROM following_follow follow {_JOINED} WHERE follow.user_id = %(user)s"
_COUNTED = counting(_COLUMNS, _JOINED)


# --- follows and folders ----------------------------------------------------------------------------------------------
def follows_of(user: User) -> QuerySet[Follow]:
    return Follow.objects.filter(user=user)


def folders_of(user: User) -> QuerySet[Folder]:
    return Folder.objects.filter(user=user).order_by("position", "name", "pk")


def in_order(folders: Iterable[Folder]) -> list[Folder]:
    """In manual order; the others last, by name."""
    return sorted(folders, key=lambda each: (each.position, natural_key(each.name), each.pk))


def followed_sources(user: User) -> list[FollowedSource]:
    """The user's follows in manual order; the others last, by name."""
    return sorted(fetch_as(FollowedSource, _FOLLOWED, _names(user)), key=_place)


def counted_sources(user: User) -> list[tuple[FollowedSource, Unread]]:
    """The same with what is unread, up to `MAX_COUNTED`, for counts of articles as lists show them."""
    are_folded = folds(user)

    def read(
        *, version: int, single: int, copied: list[int], arrived: int, through: int | None, **columns: Any
    ) -> tuple[FollowedSource, Unread]:
        articles = frozenset(copied) if are_folded else frozenset()
        to_store = 0 if through is None else arrived
        return FollowedSource(**columns), Unread(single + (0 if are_folded else len(copied)), articles, to_store)

    found = fetch_as(read, _COUNTED, _names(user) | names_of(user), generic=True)
    return sorted(found, key=lambda each: _place(each[0]))


def _names(user: User) -> dict[str, Any]:
    return {"user": user.pk, "failures": FAILURES_SHOWN, "gone": Source.State.GONE.value}


def _place(each: FollowedSource) -> Any:
    return each.position, natural_key(each.title), each.follow_id


def wants_pages(source_id: int) -> bool:
    """Whether a follower of the source wants the full text from its pages."""
    return Follow.objects.filter(source_id=source_id, full_text=Follow.FullText.PAGE).exists()


def follow_of(user: User | AnonymousUser, source_id: int) -> Follow | None:
    if not user.is_authenticated:
        return None
    return follows_of(user).select_related("source").filter(source_id=source_id).first()


def folder_of(user: User, folder_id: int) -> Folder | None:
    return folders_of(user).filter(pk=folder_id).first()


def folders_by_source(user: User) -> dict[int, list[int]]:
    """The folders of each followed source."""
    folders: dict[int, list[int]] = {}
    filed = Follow.folders.through.objects.filter(follow__user=user)
    for source_id, folder_id in filed.values_list("follow__source_id", "folder_id"):
        folders.setdefault(source_id, []).append(folder_id)
    return folders


def with_descendants(folders: Iterable[Folder], folder_id: int) -> set[int]:
    """The folder and its descendants, among all folders of a user."""
    children: dict[int | None, list[int]] = {}
    for folder in folders:
        children.setdefault(folder.parent_id, []).append(folder.pk)
    found, waiting = {folder_id}, [folder_id]
    while waiting:
        below = [child for child in children.get(waiting.pop(), []) if child not in found]
        found.update(below)
        waiting.extend(below)
    return found


def folder_paths(folders: Iterable[Folder]) -> dict[int, tuple[str, ...]]:
    """The path of names of each folder, given all folders of a user."""
    by_id = {folder.pk: folder for folder in folders}

    def path(folder: Folder) -> tuple[str, ...]:
        above = path(by_id[folder.parent_id]) if folder.parent_id is not None else ()
        return (*above, folder.name)

    return {folder_id: path(folder) for folder_id, folder in by_id.items()}


def followed_among(user: User | AnonymousUser, source_ids: Collection[int]) -> set[int]:
    if not user.is_authenticated:
        return set()
    return set(follows_of(user).filter(source_id__in=source_ids).values_list("source_id", flat=True))


def with_follower_counts(sources: QuerySet[Source]) -> QuerySet[Source]:
    return sources.annotate(followers=Count("follows"))


def visible_sources(user: User | AnonymousUser) -> QuerySet[Source]:
    """Sources that a user may read: listed and followed ones. Staff may manage private sources, but not read them."""
    mine = Q(pk__in=follows_of(user).values("source_id")) if user.is_authenticated else Q()
    return sources.everything().filter(Q(listed=True) | mine)


def manageable_sources(user: User | AnonymousUser) -> QuerySet[Source]:
    """Sources whose state a user may see: the visible ones, and all for staff. Not their postings."""
    return sources.everything() if user.is_staff else visible_sources(user)


def may_open_private(user: User | AnonymousUser) -> bool:
    """Whether a user may open articles of private sources without following them: staff with the permission."""
    return user.is_staff and user.has_perm("sources.open_private_articles")


def known_sources(user: User | AnonymousUser) -> QuerySet[Source]:
    """Sources whose address a user may know. That of a private source is a secret, because it allows following."""
    return sources.everything() if may_open_private(user) else visible_sources(user)


def publishable_sources(user: User | AnonymousUser) -> QuerySet[Source]:
    """Sources that staff may list, move and merge: private ones only with the permission, even those they follow."""
    return sources.everything() if may_open_private(user) else sources.everything().filter(listed=True)


def hide_address(user: User | AnonymousUser, source: Source, *, followed: bool) -> bool:
    """Reduce secret addresses of the instance to their hosts; returns whether they are secret to the user."""
    if source.listed or followed or may_open_private(user):
        return False
    source.url, source.site_url = hosts_only(source.url), hosts_only(source.site_url)
    return True


# --- tags -------------------------------------------------------------------------------------------------------------
def tags_of(user: User) -> QuerySet[Tag]:
    """By name."""
    return Tag.objects.filter(user=user).order_by("name", "pk")


def tag_of(user: User, tag_id: int) -> Tag | None:
    return tags_of(user).filter(pk=tag_id).first()


def tags_by_posting(user: User, posting_ids: Collection[int]) -> dict[int, list[str]]:
    """The sorted names of the user's tags on each posting that has any."""
    tagged = Tagging.objects.filter(tag__user=user, posting__in=among(posting_ids)).order_by("tag__name")
    names: dict[int, list[str]] = {}
    for posting_id, name in tagged.values_list("posting_id", "tag__name"):
        names.setdefault(posting_id, []).append(name)
    return names


# --- postings of a user -----------------------------------------------------------------------------------------------
def stars_of(user: User) -> QuerySet[Mark]:
    return Mark.objects.filter(user=user, starred_at__isnull=False)


def readable_by(user: User | AnonymousUser) -> QuerySet[Posting]:
    """Postings that a user may open: the visible ones, and starred ones even after unfollowing."""
    if not user.is_authenticated:
        return postings.visible_to(user)
    # EXISTS is evaluated per posting; IN would collect all visible ones first.
    source = Source.objects.filter(pk=OuterRef("source_id"))
    follow = follows_of(user).filter(source=OuterRef("source_id"))
    starred = stars_of(user).filter(posting=OuterRef("pk"))
    return postings.everything().filter(Exists(source.filter(listed=True)) | Exists(follow) | Exists(starred))


def posting_at(user: User, address: str) -> Posting | None:
    """The latest posting of that page, among sources visible to the user. One query."""
    key = link_key_of(address)
    if not key:
        return None
    found = postings.everything().filter(source__in=visible_sources(user).order_by().values("pk"), link_key=key)
    return postings.newest(found.select_related("source").defer("html", "text", "feed_html")).first()


def starred_among(user: User, posting_ids: Collection[int]) -> set[int]:
    return set(stars_of(user).filter(posting_id__in=posting_ids).values_list("posting_id", flat=True))


def postings_in(user: User | AnonymousUser, scope: Scope) -> QuerySet[Posting]:
    """Postings of a list of the user; none of a foreign folder.

    Those of a muted source are only in its own list, and in starred and tagged ones.
    """
    if scope.kind == "source":
        return _without_hidden(postings.of_source(postings.visible_to(user), scope.id), user)
    if not user.is_authenticated:
        return Posting.objects.none()
    if scope.kind == "starred":
        return Posting.objects.filter(pk__in=stars_of(user).values("posting_id"))
    if scope.kind == "tag":
        return readable_by(user).filter(
            pk__in=Tagging.objects.filter(tag__user=user, tag_id=scope.id).values("posting_id")
        )
    return _without_hidden(Posting.objects.filter(source_id__in=follows_in(user, scope).values("source_id")), user)


def _without_hidden(found: QuerySet[Posting], user: User | AnonymousUser) -> QuerySet[Posting]:
    """Without what rules have hidden."""
    if not user.is_authenticated:
        return found
    return found.exclude(Exists(Mark.objects.filter(user=user, posting=OuterRef("pk"), hidden=True)))


def follows_in(user: User, scope: Scope) -> QuerySet[Follow]:
    """The follows that make up a list; none for starred postings, tags and foreign folders."""
    follows = follows_of(user)
    if scope.kind == "source":
        return follows.filter(source_id=scope.id)
    if scope.kind == "sources":
        return follows.filter(source_id__in=scope.sources)
    follows = follows.filter(muted=False)
    if scope.kind == "folder":
        mine = list(folders_of(user))
        theirs = with_descendants(mine, scope.id) & {folder.pk for folder in mine}
        return follows.filter(pk__in=Follow.folders.through.objects.filter(folder__in=theirs).values("follow_id"))
    return follows if scope.kind == "all" else follows.none()


# --- lists for other readers ------------------------------------------------------------------------------------------
def subscription_list(user: User) -> OpmlDocument:
    """All follows of a user with their folders and titles, in the user's order."""
    folders = in_order(folders_of(user))
    paths = folder_paths(folders)
    filed = folders_by_source(user)
    named = first_nonempty("title", "source__title", "source__url")
    followed = follows_of(user).exclude(source__state=Source.State.IMPORTED).exclude(source__kind__in=delivered())
    follows = followed.select_related("source").annotate(shown_title=named)
    return OpmlDocument(
        title=f"Feeds of {user.get_username()}",
        subscriptions=tuple(
            Subscription(
                follow.source.url,
                title=follow.title or follow.source.title,
                html_url=follow.source.site_url,
                folders=tuple(sorted(paths[folder_id] for folder_id in filed.get(follow.source_id, ()))),
                language=follow.source.language,
            )
            for follow in sorted(follows, key=lambda each: (each.position, natural_key(each.shown_title), each.pk))
        ),
        folders=tuple(paths[folder_id] for folder_id in as_shown(folders)),
    )


def as_shown(folders: Collection[Folder]) -> list[int]:
    """The ids of all folders of a user, given in their order, each after its parent."""
    ranks = {folder.pk: rank for rank, folder in enumerate(folders)}
    parents = {folder.pk: folder.parent_id for folder in folders}

    def place(folder_id: int) -> tuple[int, ...]:
        above = parents[folder_id]
        return (*(place(above) if above is not None else ()), ranks[folder_id])

    return sorted(parents, key=place)


# --- marked with a whole list -----------------------------------------------------------------------------------------
_MARKED_ALL_AT = """
SELECT posting.id, max(marked_at) FROM following_markedall marked
CROSS JOIN LATERAL unnest(follows, moved_to) moved (follow_id, moved_to)
JOIN following_follow follow ON follow.id = moved.follow_id
JOIN postings_posting posting ON posting.source_id = follow.source_id AND posting.id <= moved.moved_to
WHERE marked.user_id = %s AND posting.id = ANY(%s) GROUP BY posting.id
"""


def marked_all_at(user: User, posting_ids: Collection[int]) -> dict[int, datetime]:
    """When postings were marked read with a list, in the last day."""
    return dict(fetch(_MARKED_ALL_AT, [user.pk, list(posting_ids)]))


# --- latest arrivals --------------------------------------------------------------------------------------------------
_NEWEST_ARRIVALS = """
SELECT follow.source_id, newest.retrieved_at FROM following_follow follow CROSS JOIN LATERAL (
    SELECT retrieved_at FROM postings_posting posting WHERE posting.source_id = follow.source_id
    ORDER BY posting.id DESC LIMIT 1
) newest WHERE follow.user_id = %s
"""


def newest_arrivals(user: User) -> dict[int, datetime]:
    """When the latest posting of each followed source was retrieved; without empty sources."""
    return dict(fetch(_NEWEST_ARRIVALS, [user.pk]))


def unread_in_tags(user: User) -> dict[int, tuple[int, datetime]]:
    """The number of unread postings of each tag that has any, and when the latest was retrieved."""
    tagged = unread(readable_by(user).filter(taggings__tag__user=user), user).order_by()
    counted = tagged.values("taggings__tag").annotate(amount=Count("pk"), newest=Max("retrieved_at"))
    return {row["taggings__tag"]: (row["amount"], row["newest"]) for row in counted}


# --- up to here -------------------------------------------------------------------------------------------------------
def unread_up_to(
    user: User, scope: Scope, here: Cursor, *, oldest_first: bool, shown_at: datetime, most: int
) -> list[int]:
    """The unread postings of a list, from the top of the user's page down to one, including it.

    Where lists are folded, copies count at the place of the row that the page shows for them.
    """
    found = unread(postings_in(user, scope), user)
    found = (folded(found) if folds(user) else found).filter(retrieved_at__lte=shown_at)
    above = postings.before(found, here) if oldest_first else postings.after(found, here)
    ordered = postings.oldest(above) if oldest_first else postings.newest(above)
    itself = unread(postings_in(user, scope), user).filter(pk=here.id)
    ids = [*itself.values_list("pk", flat=True), *ordered.values_list("pk", flat=True)[: most + 1]]
    return ids[:most]


# --- tags with counts -------------------------------------------------------------------------------------------------
def counted_tags(user: User) -> QuerySet[Tag]:
    """By name, each with its `amount` of postings."""
    return tags_of(user).annotate(amount=Count("taggings"))


def tag_named(user: User, name: str) -> Tag | None:
    return tags_of(user).filter(name__iexact=" ".join(name.split())).first()
