"""Import of OPML lists."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.actions.folders import MAX_FOLDER_DEPTH, create_folder
from apps.following.actions.follows import file_into, follow
from apps.following.models import Folder, Follow
from apps.sources import queries as sources
from apps.sources.actions import NewSource, add_sources
from apps.sources.algorithms.addresses import host, registrable_domain
from apps.sources.formats.opml import OpmlDocument, Skipped, Subscription

MAX_IMPORTED = 5_000  # sources of one list
MAX_OF_A_SITE = 1_000  # new sources of one site by one user, so that lists cannot overload a site


@dataclass(frozen=True, slots=True)
class ImportReport:
    followed: tuple[int, ...]  # sources
    already_followed: int
    skipped: tuple[Skipped, ...]
    problem: str  # where a readable list is not well-formed


@transaction.atomic
def import_list(user: User, document: OpmlDocument, *, now: datetime) -> ImportReport:
    """Follow all sources of a list in its folders, under its titles where they differ from those of the sources.

    Raises NotPossible for too many sources or folders; nothing is followed then.
    """
    if len(document.subscriptions) > MAX_IMPORTED:
        count = len(document.subscriptions)
        words = _("The list has %(number)s feeds; at most %(most)s can be imported.")
        raise NotPossible(words % {"number": f"{count:,}", "most": f"{MAX_IMPORTED:,}"})
    subscriptions, refused = _within_site_limits(user, document.subscriptions)
    source_ids = add_sources([_as_source(subscription) for subscription in subscriptions])
    fresh = follow(user, source_ids, now=now)
    folders: dict[tuple[str, ...], Folder] = {}
    filed = {
        source_id: [_folder_at(user, path, folders).pk for path in subscription.folders]
        for source_id, subscription in zip(source_ids, subscriptions, strict=True)
    }
    file_into(user, filed)
    _keep_names(user, dict(zip(source_ids, (subscription.title for subscription in subscriptions), strict=True)), fresh)
    skipped = (*document.skipped, *refused)
    return ImportReport(tuple(fresh), len(source_ids) - len(fresh), skipped, document.problem)


def _within_site_limits(user: User, subscriptions: Sequence[Subscription]) -> tuple[list[Subscription], list[Skipped]]:
    """The accepted subscriptions: new sources are limited per site, including earlier imports of the user.

    Sources that the portal already has are not checked more often for another follower.
    """
    known = sources.by_address([subscription.xml_url for subscription in subscriptions])
    own = queries.follows_of(user).filter(source__listed=False).values_list("source__url", flat=True)
    added = Counter(map(_site, own))
    taken, refused = [], Counter[str]()
    for subscription in subscriptions:
        site = _site(subscription.xml_url)
        if subscription.xml_url not in known:
            if added[site] >= MAX_OF_A_SITE:
                refused[site] += 1
                continue
            added[site] += 1
        taken.append(subscription)
    why = "{} more sources of {} are left out: of one site a person can bring at most {:,}."
    return taken, [Skipped(0, why.format(count, site, MAX_OF_A_SITE)) for site, count in sorted(refused.items())]


def _site(url: str) -> str:
    return registrable_domain(host(url))


def _as_source(subscription: Subscription) -> NewSource:
    return NewSource(
        url=subscription.xml_url,
        title=subscription.title,
        site_url=subscription.html_url,
        description=subscription.description,
        language=subscription.language,
    )


def _folder_at(user: User, path: tuple[str, ...], made: dict[tuple[str, ...], Folder]) -> Folder:
    path = tuple(name[:100] for name in path[:MAX_FOLDER_DEPTH])
    if path not in made:
        parent = _folder_at(user, path[:-1], made) if len(path) > 1 else None
        made[path] = create_folder(user, path[-1], parent)
    return made[path]


def _keep_names(user: User, titles: dict[int, str], source_ids: Collection[int]) -> None:
    follows = list(queries.follows_of(user).filter(source_id__in=source_ids).select_related("source"))
    for each in follows:
        title = titles[each.source_id]
        each.title = title if title != each.source.title else ""
    Follow.objects.bulk_update(follows, ["title"], batch_size=1_000)
