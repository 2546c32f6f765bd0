"""The public catalogue of sources."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Lower

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings import queries as postings
from apps.reading.pages.languages import base_of, in_languages, language_choices, language_name
from apps.recommendations import queries as recommendations
from apps.recommendations.queries import Recommendation
from apps.recommendations.queries.risen import risen
from apps.sources import queries as sources
from apps.sources.models import Source
from apps.web.pages import Context
from apps.web.pages.icons import icon_address

LENGTH = 40
RECOMMENDED = 6
SORTS: dict[str, tuple[Any, ...]] = {
    "popular": ("-followers", Lower("title"), "pk"),
    "rising": (F("growth__value").desc(nulls_last=True), "-followers", "pk"),
    "new": ("-added_at", "-pk"),
    "name": (Lower("title"), "pk"),
}


def catalogue_page(
    user: User | AnonymousUser,
    *,
    words: str,
    category: str,
    language: str,
    number: str,
    now: datetime,
    sort: str = "popular",
) -> Context:
    """At most twelve queries."""
    sort = sort if sort in SORTS else "popular"
    listed = sources.listed()
    found = sources.matching(listed, words)
    if category:
        found = found.filter(category=category)
    if language:
        found = found.filter(in_languages([language]))
    counted = following.with_follower_counts(found).order_by(*SORTS[sort])
    place = Paginator(counted, LENGTH).get_page(number)
    shown: list[Source] = list(place.object_list)
    is_front = place.number == 1 and not (words or category or language)
    return {
        "entries": _entries(user, shown, now),
        "recommended": recommended_entries(user, now) if is_front else (),  # only on the first page without filters
        "place": place,
        "categories": category_choices(listed),
        "languages": language_choices(_counted(listed, "language")),
        "words": words,
        "category": category,
        "language": base_of(language),
        "sort": sort,
    }


def category_choices(found: QuerySet[Source]) -> list[Context]:
    """The categories of sources, by name."""
    return [{"name": name, "count": count} for name, count in sorted(_counted(found, "category")) if name]


def _counted(found: QuerySet[Source], column: str) -> list[tuple[str, int]]:
    return list(found.order_by(column).values_list(column).annotate(count=Count("pk")))


def recommended_entries(user: User | AnonymousUser, now: datetime) -> list[Context]:
    """Recommended sources, for visitors rising ones. At most five queries."""
    found: Sequence[Recommendation] = (
        recommendations.recommended(user, RECOMMENDED)
        if user.is_authenticated
        else recommendations.rising(user, RECOMMENDED)
    )
    weekly = postings.weekly_counts([each.source.pk for each in found], now)
    return [_entry(each.source, weekly) | {"reason": each.reason} for each in found]


def _entries(user: User | AnonymousUser, shown: Collection[Source], now: datetime) -> list[Context]:
    source_ids = [source.pk for source in shown]
    followed = following.followed_among(user, source_ids)
    weekly, rising = postings.weekly_counts(source_ids, now), risen(source_ids)
    return [
        _entry(source, weekly) | {"followed": source.pk in followed, "is_rising": source.pk in rising}
        for source in shown
    ]


def _entry(source: Source, weekly: Mapping[int, int]) -> Context:
    return {
        "source": source,  # with `followers`
        "followed": False,
        "weekly": weekly.get(source.pk, 0),  # postings of the last seven days
        "icon": icon_address(source.icon_id),
        "language": language_name(source.language) if source.language else "",
    }
