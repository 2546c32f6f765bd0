"""The caches of the index."""

from apps.search.queries import stored, terms


def forget_index() -> None:
    """Have all of the index read from the database once more."""
    for cache in (stored._rows, stored._attributes, stored._origins, stored._documents, stored._chunks, stored._states):
        cache.only(lambda _key: False)
    terms._latest = terms._Cached((0, 0))
