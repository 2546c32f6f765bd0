"""Following sources, which decides whether they are checked. Each is one transaction, except for requests to sites."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import actions as following
from apps.following.actions.errors import NotPossible
from apps.following.models import Follow, FollowedList
from apps.retrieval.actions.adding import Discovery, NoDocument, accept, discover, document_of, fetch_document
from apps.retrieval.actions.planning import adopt_sources
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import normalise
from apps.sources.formats import opml
from apps.sources.formats.opml import OpmlDocument

MAX_LISTS = 10  # per user
LISTS_AT_ONCE = 20
CHECK_LISTS_EVERY = timedelta(days=1)


def follow(user: User, source_id: int, *, now: datetime, folder_ids: Collection[int] = ()) -> None:
    follow_all(user, [source_id], now=now, folder_ids=folder_ids)


@transaction.atomic
def follow_all(user: User, source_ids: Sequence[int], *, now: datetime, folder_ids: Collection[int] = ()) -> list[int]:
    """Follow sources and check new ones at once; returns the ids of the newly followed.

    Raises NotPossible if the user would follow too many; none is followed then.
    """
    fresh = following.follows.follow(user, source_ids, now=now, folder_ids=folder_ids)
    adopt_sources(source_ids, now=now)
    return fresh


@transaction.atomic
def unfollow(user: User, source_id: int, *, now: datetime) -> None:
    following.follows.unfollow(user, source_id)
    adopt_sources([source_id], now=now)


def follow_address(
    user: User, address: str, *, now: datetime, folder_ids: Collection[int] = (), accepted: str = ""
) -> Discovery:
    """Follow the source at an address, if there is one; otherwise the discovery has choices, an offer or a problem.

    An offer whose kind is `accepted` becomes a source. Raises TooOften and NotPossible as `discover`, `accept` and
    `follow_all` do.
    """
    found = discover(user, address, now=now)
    if found.offer and found.offer.kind == accepted:
        found = Discovery(source_id=accept(user, found.offer))
    if found.source_id is not None:
        follow(user, found.source_id, now=now, folder_ids=folder_ids)
    return found


def follow_list(user: User, address: str, *, now: datetime) -> following.follows.ImportReport:
    """Import the list at an address, and keep the follows in step with it from then on.

    Raises what `fetch_document` and `import_list` do, and BrokenOpml; nothing is followed then.
    """
    document = opml.read(fetch_document(user, address, now=now))
    with transaction.atomic():
        known = FollowedList.objects.select_for_update().filter(user=user)
        if known.exclude(url=normalise(address)).count() >= MAX_LISTS:
            raise NotPossible(_("You can stay in sync with at most %(number)s lists.") % {"number": MAX_LISTS})
        values = {"due_at": now + CHECK_LISTS_EVERY, "problem": document.problem[:300]}
        row, _is_new = known.update_or_create(user=user, url=normalise(address), defaults=values)
        return _keep_in_step(row, document, now)


def sync_lists(*, now: datetime) -> int:
    """Check lists that are due; returns how many. The next check is stored first, so that a crash repeats none."""
    with transaction.atomic():
        due = FollowedList.objects.filter(due_at__lte=now, user__is_active=True).select_related("user")
        rows = list(due.select_for_update(skip_locked=True, of=("self",))[:LISTS_AT_ONCE])
        FollowedList.objects.filter(pk__in=[row.pk for row in rows]).update(due_at=now + CHECK_LISTS_EVERY)
    for row in rows:
        problem = ""
        try:
            document = opml.read(document_of(row.url, now).body)
            with transaction.atomic():
                _keep_in_step(row, document, now)
            problem = document.problem
        except (NotPossible, NoDocument, opml.BrokenOpml) as error:
            problem = str(error)
        FollowedList.objects.filter(pk=row.pk).update(problem=problem[:300])
    return len(rows)


def _keep_in_step(row: FollowedList, document: OpmlDocument, now: datetime) -> following.follows.ImportReport:
    """Follow what is new in a list, and unfollow what is gone, unless the user followed it before or otherwise.

    A list that is empty or damaged ends nothing.
    """
    report = import_list(row.user, document, now=now)
    own = Follow.objects.filter(user=row.user)
    own.filter(source_id__in=report.followed).update(from_list=row)
    if document.subscriptions and not document.problem:
        listed = set(sources.by_address([each.xml_url for each in document.subscriptions]).values())
        gone = own.filter(from_list=row).exclude(source_id__in=listed).values_list("source_id", flat=True)
        for source_id in list(gone):
            unfollow(row.user, source_id, now=now)
    return report


def leave_list(user: User, list_id: int) -> bool:
    """Keep up with a list no longer; its feeds stay followed."""
    return FollowedList.objects.filter(user=user, pk=list_id).delete()[0] > 0


@transaction.atomic
def import_list(user: User, document: OpmlDocument, *, now: datetime) -> following.follows.ImportReport:
    report = following.follows.import_list(user, document, now=now)
    adopt_sources(report.followed, now=now)
    return report
