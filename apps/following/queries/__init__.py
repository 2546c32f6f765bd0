"""Reads of who follows what, and of what each person has read, starred, tagged and noted."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Lower, NullIf

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.database.statements import among, fetch, fetch_as
from apps.following.models import Folder, Follow, Mark, Note, Playback, Reading, Share, Tag, Tagging
from apps.following.queries.states import unread, unread_counts, with_state
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.postings.queries.recognition import link_key_of
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import hosts_only
from apps.sources.formats.opml import OpmlDocument, Subscription
from apps.sources.models import Source

Kind = Literal["all", "starred", "tag", "folder", "source", "sources"]
FAILURES_THAT_TELL = 3  # one after another, before people are told that a source fails


@dataclass(frozen=True, slots=True)
class Scope:
    """Which of a person's lists is meant: all, starred, a tag, a folder with what is below it, a source, several."""

    kind: Kind
    id: int = 0
    sources: tuple[int, ...] = ()  # of "sources"


@dataclass(frozen=True, slots=True)
class FollowedSource:
    follow_id: int
    source_id: int
    title: str  # the person's own name for it before the source's
    failing: bool
    failing_since: datetime | None
    answered_at: datetime | None  # when it was last seen to be well
    is_gone: bool
    was_asked: bool  # at least once, and what came of it is stored
    muted: bool
    images: str
    followed_at: datetime
    folder_ids: list[int]  # that it lies in


# Beside every page: a statement of our own is prepared, and needs no composing.
_FOLLOWED = """
SELECT follow.id AS follow_id, follow.source_id, named.title,
    coalesce(consecutive_failures >= %(failures)s, false) AS failing, failing_since, observed_at AS answered_at,
    source.state = %(gone)s AS is_gone,
    -- asked, and nobody is asking it for the first time just now
    coalesce(observed_at IS NOT NULL OR asked_at IS NOT NULL AND worker = '', false) AS was_asked,
    muted, follow.images, followed_at,
    ARRAY(SELECT folder_id FROM following_follow_folders filed WHERE filed.follow_id = follow.id) AS folder_ids
FROM following_follow follow JOIN sources_source source ON source.id = follow.source_id
LEFT JOIN retrieval_schedule schedule ON schedule.source_id = source.id
CROSS JOIN LATERAL (SELECT coalesce(nullif(follow.title, ''), nullif(source.title, ''), source.url) AS title) named
WHERE follow.user_id = %(user)s ORDER BY position, lower(named.title), follow.id
"""


# --- follows and folders ----------------------------------------------------------------------------------------------
def follows_of(user: User) -> QuerySet[Follow]:
    return Follow.objects.filter(user=user)


def folders_of(user: User) -> QuerySet[Folder]:
    """As they were sorted, those that never were behind them by name."""
    return Folder.objects.filter(user=user).order_by("position", "name", "pk")


def followed_sources(user: User) -> list[FollowedSource]:
    """What the person follows, as it was sorted; what never was is behind that by name."""
    names = {"user": user.pk, "failures": FAILURES_THAT_TELL, "gone": Source.State.GONE.value}
    return fetch_as(FollowedSource, _FOLLOWED, names)


def wants_pages(source_id: int) -> bool:
    """Whether somebody who follows a source wishes for the text of its pages."""
    return Follow.objects.filter(source_id=source_id, full_text=Follow.FullText.PAGE).exists()


def follow_of(user: User | AnonymousUser, source_id: int) -> Follow | None:
    if not user.is_authenticated:
        return None
    return follows_of(user).select_related("source").filter(source_id=source_id).first()


def folder_of(user: User, folder_id: int) -> Folder | None:
    return folders_of(user).filter(pk=folder_id).first()


def folders_by_follow(user: User) -> dict[int, list[int]]:
    """The folders that each of the person's follows lies in."""
    pairs = Follow.folders.through.objects.filter(follow__user=user).values_list("follow_id", "folder_id")
    folders: dict[int, list[int]] = {}
    for follow_id, folder_id in pairs:
        folders.setdefault(follow_id, []).append(folder_id)
    return folders


def folders_by_source(user: User) -> dict[int, list[int]]:
    """The same of each followed source."""
    pairs = Follow.folders.through.objects.filter(follow__user=user).values_list("follow__source_id", "folder_id")
    folders: dict[int, list[int]] = {}
    for source_id, folder_id in pairs:
        folders.setdefault(source_id, []).append(folder_id)
    return folders


def with_descendants(folders: Iterable[Folder], folder_id: int) -> set[int]:
    """The folder and all that lie below it, of a person's folders given whole."""
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
    """The names from the outermost folder down to each, of a person's folders given whole."""
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
    """Sources that a person may read: listed ones and their own. Of staff the same: to look after a private source is
    not to read it.
    """
    mine = Q(pk__in=follows_of(user).values("source_id")) if user.is_authenticated else Q()
    return sources.everything().filter(Q(listed=True) | mine)


def manageable_sources(user: User | AnonymousUser) -> QuerySet[Source]:
    """Sources whose state a person may look at: the visible ones, and for staff all. Not what they publish."""
    return sources.everything() if user.is_staff else visible_sources(user)


def may_open_private(user: User | AnonymousUser) -> bool:
    """Whether a person may open articles of private sources that they do not follow; staff with the permission."""
    return user.is_staff and user.has_perm("sources.open_private_articles")


def known_sources(user: User | AnonymousUser) -> QuerySet[Source]:
    """Sources whose address a person may know: whoever knows it can follow, so it is a secret of the followers."""
    return sources.everything() if may_open_private(user) else visible_sources(user)


def publishable_sources(user: User | AnonymousUser) -> QuerySet[Source]:
    """Sources that staff may list, move and merge: private ones only with the permission, even those they follow."""
    return sources.everything() if may_open_private(user) else sources.everything().filter(listed=True)


def hide_address(user: User | AnonymousUser, source: Source, *, followed: bool) -> bool:
    """Cut the addresses of the instance down to their hosts where the person may not know them; whether they were."""
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
    """The names of the person's tags on each of some postings, in their order; those without any are left out."""
    tagged = Tagging.objects.filter(tag__user=user, posting__in=among(posting_ids)).order_by("tag__name")
    names: dict[int, list[str]] = {}
    for posting_id, name in tagged.values_list("posting_id", "tag__name"):
        names.setdefault(posting_id, []).append(name)
    return names


# --- postings as one person sees them ---------------------------------------------------------------------------------
def stars_of(user: User) -> QuerySet[Mark]:
    return Mark.objects.filter(user=user, starred_at__isnull=False)


def readable_by(user: User | AnonymousUser) -> QuerySet[Posting]:
    """Postings that a person may open: the visible ones, and what they starred even if they follow it no longer."""
    if not user.is_authenticated:
        return postings.visible_to(user)
    # Asked of each posting: as sets, all visible ones would be gathered first.
    source = Source.objects.filter(pk=OuterRef("source_id"))
    follow = follows_of(user).filter(source=OuterRef("source_id"))
    starred = stars_of(user).filter(posting=OuterRef("pk"))
    return postings.everything().filter(Exists(source.filter(listed=True)) | Exists(follow) | Exists(starred))


def posting_at(user: User, address: str) -> Posting | None:
    """The latest posting about the page at an address, among sources that the person may look at. One query."""
    key = link_key_of(address)
    if not key:
        return None
    found = postings.everything().filter(source__in=visible_sources(user).order_by().values("pk"), link_key=key)
    return postings.newest(found.select_related("source").defer("html", "text", "feed_html")).first()


def starred_among(user: User, posting_ids: Collection[int]) -> set[int]:
    return set(stars_of(user).filter(posting_id__in=posting_ids).values_list("posting_id", flat=True))


def postings_in(user: User | AnonymousUser, scope: Scope) -> QuerySet[Posting]:
    """Postings of one of the person's lists. A folder that is not theirs is empty.

    Those of a muted source are in its own list, and in those that the person put them into one by one.
    """
    if scope.kind == "source":
        return postings.of_source(postings.visible_to(user), scope.id)
    if not user.is_authenticated:
        return Posting.objects.none()
    if scope.kind == "starred":
        return Posting.objects.filter(pk__in=stars_of(user).values("posting_id"))
    if scope.kind == "tag":
        return readable_by(user).filter(
            pk__in=Tagging.objects.filter(tag__user=user, tag_id=scope.id).values("posting_id")
        )
    return Posting.objects.filter(source_id__in=follows_in(user, scope).values("source_id"))


def follows_in(user: User, scope: Scope) -> QuerySet[Follow]:
    """The follows whose postings make up a list; none of the starred ones or of a tag. A folder not theirs is empty."""
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
    """All that a person follows, in its folders, under the names that they gave it and in the order that they see."""
    folders = list(folders_of(user))
    paths = folder_paths(folders)
    filed = folders_by_follow(user)
    name = Coalesce(NullIf(F("title"), Value("")), NullIf(F("source__title"), Value("")), "source__url")
    follows = follows_of(user).select_related("source").order_by("position", Lower(name), "pk")
    return OpmlDocument(
        title=f"Feeds of {user.get_username()}",
        subscriptions=tuple(
            Subscription(
                follow.source.url,
                title=follow.title or follow.source.title,
                html_url=follow.source.site_url,
                folders=tuple(sorted(paths[folder_id] for folder_id in filed.get(follow.pk, ()))),
                language=follow.source.language,
            )
            for follow in follows
        ),
        folders=tuple(paths[folder_id] for folder_id in as_shown(folders)),
    )


def as_shown(folders: Collection[Folder]) -> list[int]:
    """The ids of a person's folders given whole and in their order, each behind the one that it lies in."""
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
    """Of postings that were marked read with a whole list in the last day, when that was."""
    return dict(fetch(_MARKED_ALL_AT, [user.pk, list(posting_ids)]))


# --- what came last ---------------------------------------------------------------------------------------------------
_NEWEST_ARRIVALS = """
SELECT follow.source_id, newest.retrieved_at FROM following_follow follow CROSS JOIN LATERAL (
    SELECT retrieved_at FROM postings_posting posting WHERE posting.source_id = follow.source_id
    ORDER BY posting.id DESC LIMIT 1
) newest WHERE follow.user_id = %s
"""


def newest_arrivals(user: User) -> dict[int, datetime]:
    """When the latest posting of each followed source reached us; sources without any are left out."""
    return dict(fetch(_NEWEST_ARRIVALS, [user.pk]))


def unread_in_tags(user: User) -> dict[int, tuple[int, datetime]]:
    """How many unread postings each tag has, and when the latest of them reached us; tags without any are left out."""
    tagged = unread(readable_by(user).filter(taggings__tag__user=user), user).order_by()
    counted = tagged.values("taggings__tag").annotate(amount=Count("pk"), newest=Max("retrieved_at"))
    return {row["taggings__tag"]: (row["amount"], row["newest"]) for row in counted}


# --- up to here -------------------------------------------------------------------------------------------------------
def unread_up_to(
    user: User, scope: Scope, here: Cursor, *, oldest_first: bool, shown_at: datetime, most: int
) -> list[int]:
    """The unread postings of a list that stood on the person's page from its top down to one, and that one itself."""
    found = unread(postings_in(user, scope), user).filter(retrieved_at__lte=shown_at)
    above = postings.before(found, here) if oldest_first else postings.after(found, here)
    ordered = postings.oldest(above) if oldest_first else postings.newest(above)
    itself = unread(postings_in(user, scope), user).filter(pk=here.id)
    ids = [*itself.values_list("pk", flat=True), *ordered.values_list("pk", flat=True)[: most + 1]]
    return ids[:most]


# --- tags put in order ------------------------------------------------------------------------------------------------
def counted_tags(user: User) -> QuerySet[Tag]:
    """By name, each with its `amount` of postings."""
    return tags_of(user).annotate(amount=Count("taggings"))


def tag_named(user: User, name: str) -> Tag | None:
    return tags_of(user).filter(name=" ".join(name.split())).first()


# --- notes ------------------------------------------------------------------------------------------------------------
def notes_of(user: User, words: str = "") -> QuerySet[Note]:
    """The latest first; with words, those that have each of them, wherever it stands in a longer one."""
    notes = Note.objects.filter(user=user)
    for word in words.split():
        notes = notes.filter(text__icontains=word)
    return notes.order_by("-changed_at", "-pk")


# --- history ----------------------------------------------------------------------------------------------------------
def readings_before(user: User, place: Cursor | None) -> QuerySet[Reading]:
    """What the person read, the latest first, from the top or from a place on; also what they may no longer open."""
    readings = Reading.objects.filter(user=user).order_by("-read_at", "-posting_id")
    if place is None:
        return readings
    ties = Q(read_at=place.published_at, posting_id__gte=place.id)
    return readings.filter(~ties, read_at__lte=place.published_at)


# --- playback ---------------------------------------------------------------------------------------------------------
def unfinished(user: User) -> QuerySet[Playback]:
    """What the person has begun to listen to or to watch, the latest first."""
    return Playback.objects.filter(user=user).order_by("-changed_at", "-pk")


# --- shared postings --------------------------------------------------------------------------------------------------
def shares_of(user: User) -> QuerySet[Share]:
    """The latest first."""
    return Share.objects.filter(user=user).order_by("-shared_at", "-pk")


def share_at(secret: str) -> Share | None:
    """What a secret address shows; nothing of people who were locked out."""
    return Share.objects.filter(secret=sanitize(secret), user__is_active=True).select_related("posting__source").first()
