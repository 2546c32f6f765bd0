"""What is offered to everybody."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings import queries as postings
from apps.sources import queries as sources
from apps.sources.models import Source

LENGTH = 40


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    source: Source  # with `followers`
    followed: bool
    weekly: int  # postings of the last seven days


@dataclass(frozen=True, slots=True)
class CataloguePage:
    entries: tuple[CatalogueEntry, ...]
    place: Page  # among the pages of the catalogue
    categories: tuple[str, ...]
    languages: tuple[str, ...]
    words: str
    category: str
    language: str


def catalogue_page(
    user: User | AnonymousUser, *, words: str, category: str, language: str, number: str, now: datetime
) -> CataloguePage:
    """Six queries."""
    listed = sources.listed()
    found = sources.matching(listed, words)
    if category:
        found = found.filter(category=category)
    if language:
        found = found.filter(language=language)
    counted = following.with_follower_counts(found).order_by("category", "title", "pk")
    place = Paginator(counted, LENGTH).get_page(number)
    shown: list[Source] = list(place.object_list)
    source_ids = [source.pk for source in shown]
    followed = following.followed_among(user, source_ids)
    weekly = postings.weekly_counts(source_ids, now)
    return CataloguePage(
        entries=tuple(CatalogueEntry(source, source.pk in followed, weekly.get(source.pk, 0)) for source in shown),
        place=place,
        categories=tuple(sources.categories(listed)),
        languages=tuple(sources.languages(listed)),
        words=words,
        category=category,
        language=language,
    )
