"""What somebody follows, as Fever has it. What they muted does not come: there is no list here for one source alone."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import F, Max

from apps.accounts.models import User
from apps.api.dialects.fever.formats import Group, Link
from apps.api.formats.schemas import Feed, Item
from apps.api.queries import feeds as followed
from apps.api.queries.visible import own
from apps.following import queries as following
from apps.following.queries import Scope
from apps.stories.models import Member
from apps.stories.queries.front import front

ALL = Scope("all")


def groups(user: User) -> list[Group]:
    """A person's folders, each with what is in it and below, as its page shows it. Three queries."""
    folders = list(following.folders_of(user))
    paths, filed = following.folder_paths(folders), following.folders_by_follow(user)
    sources: defaultdict[int, list[int]] = defaultdict(list)
    for follow_id, source_id in following.follows_in(user, ALL).order_by("source_id").values_list("pk", "source_id"):
        for folder_id in filed.get(follow_id, ()):
            sources[folder_id].append(source_id)
    found = []
    for folder_id in following.as_shown(folders):
        within = {source for below in following.with_descendants(folders, folder_id) for source in sources[below]}
        found.append(Group(folder_id, followed.PATH.join(paths[folder_id]), sorted(within)))
    return found


def feeds(user: User) -> list[Feed]:
    """Three queries."""
    return [feed for feed in followed.feeds(user) if not feed.is_muted]


def refreshed_at(user: User) -> datetime | None:
    """When the latest of a person's sources was asked."""
    at: datetime | None = following.follows_in(user, ALL).aggregate(at=Max("source__schedule__asked_at"))["at"]
    return at


def items(user: User, posting_ids: Sequence[int]) -> list[Item]:
    """Those of the postings that are a person's, in the order given. One query."""
    rows = following.with_state(own(user), user).filter(pk__in=posting_ids)
    columns = ("id", "title", "author", "html", "url", "starred", "unread", "published_at")
    found = {row["id"]: Item(**row) for row in rows.values(*columns, feed_id=F("source_id"))}
    return [found[id] for id in dict.fromkeys(posting_ids) if id in found]


def links(user: User, now: datetime, *, offset: int, days: int, page: int, length: int) -> list[Link]:
    """What several sources tell, one of the person's at least, as the front page has it. Nine queries at most.

    Parameters
    ----------
    offset, days : int
        So many days, that ended so many days ago; of the front page's stories, which are those of three days.
    page : int
        From 1 on, each of `length` links.
    """
    until = now - timedelta(days=offset)
    stories = {
        each.story.pk: each for each in front(user, until) if each.story.latest_at > until - timedelta(days=days)
    }
    members: defaultdict[int, list[int]] = defaultdict(list)
    mine = following.follows_in(user, ALL).values("source_id")
    rows = Member.objects.filter(story_id__in=stories, source_id__in=mine).order_by("published_at", "posting_id")
    for story_id, posting_id in rows.values_list("story_id", "posting_id"):
        members[story_id].append(posting_id)
    told = [id for id in stories if members[id]][(page - 1) * length : page * length]
    leads = {id: stories[id].lead_id if stories[id].lead_id in members[id] else members[id][0] for id in told}
    shown = {item.id: item for item in items(user, list(leads.values()))}
    return [Link(id, shown[leads[id]], stories[id].sources, members[id]) for id in told if leads[id] in shown]
