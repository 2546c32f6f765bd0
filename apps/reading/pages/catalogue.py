"""What is offered to everybody."""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator

from apps.accounts.models import User
from apps.following import queries as following
from apps.sources import queries as sources
from apps.sources.models import Source

LENGTH = 40


@dataclass(frozen=True, slots=True)
class CataloguePage:
    sources: Page  # of Source, with `followers`
    followed: frozenset[int]
    categories: tuple[str, ...]
    languages: tuple[str, ...]
    words: str
    category: str
    language: str


def catalogue_page(
    user: User | AnonymousUser, *, words: str, category: str, language: str, number: str
) -> CataloguePage:
    """Five queries."""
    listed = sources.listed()
    found = sources.matching(listed, words)
    if category:
        found = found.filter(category=category)
    if language:
        found = found.filter(language=language)
    counted = following.with_follower_counts(found).order_by("category", "title", "pk")
    page = Paginator(counted, LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    shown: list[Source] = page.object_list
    return CataloguePage(
        sources=page,
        followed=frozenset(following.followed_among(user, [source.pk for source in shown])),
        categories=tuple(sources.categories(listed)),
        languages=tuple(sources.languages(listed)),
        words=words,
        category=category,
        language=language,
    )
