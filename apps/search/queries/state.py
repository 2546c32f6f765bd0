"""The state of the index, for keepers."""

from dataclasses import dataclass

from django.db.models import Count, F, Max, Sum

from apps.search.models import Document, Generation


@dataclass(frozen=True, slots=True)
class IndexState:
    generations: int
    documents: int  # sealed, the dead ones among them
    dead: int
    tail: int  # documents that are searched one by one until they are sealed


def index_state() -> IndexState:
    """Two queries."""
    sealed = Generation.objects.aggregate(
        generations=Count("pk"),
        documents=Sum("size", default=0),
        dead=Sum("dead_count", default=0),
        end=Max(F("first") + F("size"), default=0),
    )
    tail = Document.objects.filter(number__gte=sealed["end"], dead=False).count()
    return IndexState(sealed["generations"], sealed["documents"], sealed["dead"], tail)
