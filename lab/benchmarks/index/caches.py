"""The caches of the index."""

from apps.search.algorithms.index.caching import Cache
from apps.search.queries import stored, terms


def forget_index() -> None:
    """Have all of the index read from the database once more."""
    for cache in vars(stored).values():
        if isinstance(cache, Cache):
            cache.only(lambda _key: False)
    terms._latest = terms._Cached((0, 0))
