"""Reads of sources: words that chain, and nothing that writes."""

from collections.abc import Collection

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from apps.sources.models import FormerAddress, Source


def everything() -> QuerySet[Source]:
    """All that people see as sources: index pages are parts of their sites."""
    return Source.objects.exclude(kind=Source.Kind.INDEX)


def listed() -> QuerySet[Source]:
    """What the catalogue offers to everybody."""
    return everything().filter(listed=True).exclude(state=Source.State.GONE)


def by_address(addresses: Collection[str]) -> dict[str, int]:
    """The source at each address that has one; an index page's is its site, a merged source's the one that was kept."""
    found = Source.objects.filter(url__in=addresses).annotate(owner=Coalesce("site_id", "pk"))
    former = FormerAddress.objects.filter(url__in=addresses)
    return dict(former.values_list("url", "source_id")) | dict(found.values_list("url", "owner"))


def matching(sources: QuerySet[Source], words: str) -> QuerySet[Source]:
    """Sources that hold every one of the words in title, address or description."""
    for word in words.split()[:10]:
        sources = sources.filter(Q(title__icontains=word) | Q(url__icontains=word) | Q(description__icontains=word))
    return sources


def categories(sources: QuerySet[Source]) -> list[str]:
    return list(sources.exclude(category="").order_by("category").values_list("category", flat=True).distinct())


def languages(sources: QuerySet[Source]) -> list[str]:
    return list(sources.exclude(language="").order_by("language").values_list("language", flat=True).distinct())
