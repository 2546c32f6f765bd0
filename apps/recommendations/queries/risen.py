"""Which sources rise."""

from collections.abc import Collection

from apps.recommendations.algorithms.growth import RISING
from apps.recommendations.models import Growth


def risen(source_ids: Collection[int]) -> set[int]:
    """Those of the sources that are followed and read more than before."""
    return set(Growth.objects.filter(source__in=source_ids, value__gte=RISING).values_list("source_id", flat=True))
