"""Reads of alerts: candidates of the percolator, and hits."""

from apps.alerts.queries import interest
from apps.alerts.queries.hits import MAX_COUNTED, ServingSource, count_hits, delays_of, hits_of, sources_of
