"""Reads of alerts: candidates of the percolator, and hits."""

from apps.alerts.queries import interest
from apps.alerts.queries.hits import ServingSource, count_hits, hits_of, sources_of
