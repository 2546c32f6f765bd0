"""Filters and orders of the dashboard's lists of sources and users."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow
from apps.retrieval import queries as retrieval
from apps.retrieval.models import Retrieval
from apps.sources import queries as sources
from apps.sources.models import Source

SORTS = {
    "title": ("title", "pk"),
    "weight": ("-weight", "title", "pk"),
    "next": (Coalesce("schedule__first_due_at", "schedule__due_at").asc(nulls_last=True), "pk"),
    "added": ("-added_at", "-pk"),
    "followers": ("-followers", "title", "pk"),
}


class SourceFilter(NamedTuple):
    words: str = ""
    state: str = ""
    category: str = ""
    language: str = ""
    shown: str = ""  # "listed" or "unlisted"
    failing: bool = False
    sort: str = "title"


def chosen_sources(filter: SourceFilter) -> QuerySet[Source]:
    """The sources with `followers` and their schedules."""
    found = sources.matching(sources.everything(), filter.words)
    for name in ("state", "category", "language"):
        if value := getattr(filter, name):
            found = found.filter(**{name: value})
    if filter.shown:
        found = found.filter(listed=filter.shown == "listed")
    if filter.failing:
        found = found.filter(pk__in=retrieval.failing().values("pk"))
    return following.with_follower_counts(found).select_related("schedule").order_by(*SORTS[filter.sort])


# --- sources that fail ------------------------------------------------------------------------------------------------
def failing_sources(words: str) -> QuerySet[Source]:
    """Failing sources, longest first, with `followers`, schedules, and the latest `outcome`, `status` and `message`."""
    latest = Retrieval.objects.filter(source=OuterRef("pk")).order_by("-fetched_at")
    found = sources.matching(sources.everything().filter(schedule__failing_since__isnull=False), words)
    return (
        following.with_follower_counts(found)
        .annotate(**{name: Subquery(latest.values(name)[:1]) for name in ("outcome", "status", "message")})
        .select_related("schedule")
        .order_by("schedule__failing_since", "pk")
    )


# --- people -----------------------------------------------------------------------------------------------------------
PEOPLE_SORTS: dict[str, tuple[str | OrderBy, ...]] = {
    "newest": ("-date_joined", "-pk"),
    "seen": (F("last_login").desc(nulls_last=True), "pk"),
    "name": ("username", "pk"),
    "follows": ("-followed", "username"),
}
PEOPLE_STATES = {"active": Q(is_active=True), "disabled": Q(is_active=False), "staff": Q(is_staff=True)}


def people_counts(now: datetime) -> dict[str, Any]:
    """Numbers of users; `seen` and `new`: who signed in or up within 1, 7 and 30 days. One query."""
    filters = {"everybody": Q(), "disabled": Q(is_active=False), "staff": Q(is_staff=True)}
    for days in (1, 7, 30):
        since = now - timedelta(days=days)
        filters |= {f"seen{days}": Q(last_login__gt=since), f"new{days}": Q(date_joined__gt=since)}
    found = User.objects.aggregate(**{name: Count("pk", filter=filter) for name, filter in filters.items()})
    return found | {name: [found[f"{name}{days}"] for days in (1, 7, 30)] for name in ("seen", "new")}


def chosen_people(words: str, state: str, sort: str) -> QuerySet[User]:
    """Users with the number of sources they follow (`followed`)."""
    found = User.objects.all()
    for word in words.split()[:5]:
        found = found.filter(Q(username__icontains=word) | Q(email__icontains=word))
    if state in PEOPLE_STATES:
        found = found.filter(PEOPLE_STATES[state])
    counted = Follow.objects.filter(user=OuterRef("pk")).order_by().values("user").annotate(count=Count("pk"))
    followed = Coalesce(Subquery(counted.values("count")), Value(0), output_field=IntegerField())
    return found.annotate(followed=followed).order_by(*PEOPLE_SORTS.get(sort, PEOPLE_SORTS["newest"]))
