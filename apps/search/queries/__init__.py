"""Reads of the index."""

from apps.search.queries.cursors import LENGTH
from apps.search.queries.searching import MAX_COUNTED, Added, Order, SearchResult, matching, search
from apps.search.queries.snapshot import Snapshot, TooCostly, snapshot
from apps.search.queries.spelling import suggestion
