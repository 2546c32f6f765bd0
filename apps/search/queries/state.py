"""The state of the index, for admins."""

from dataclasses import dataclass

from django.db.models import Count, F, Max, Sum

from apps.search.models import Document, Generation


@dataclass(frozen=True, slots=True)
class IndexState:
    generations: int
    documents: int  # in segments, including dead ones
    dead: int
    tail: int  # documents of the in-memory segment


def index_state() -> IndexState:
    """Two queries."""
    segments = Generation.objects.aggregate(
        generations=Count("pk"),
        documents=Sum("size", default=0),
        dead=Sum("dead_count", default=0),
        end=Max(F("first") + F("size"), default=0),
    )
    tail = Document.objects.filter(number__gte=segments["end"], dead=False).count()
    return IndexState(segments["generations"], segments["documents"], segments["dead"], tail)
