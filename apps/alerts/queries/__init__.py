"""Reads of alerts: postings as they pass, the searches that they may answer, and what was found."""

from apps.alerts.queries import interest
from apps.alerts.queries.hits import MAX_COUNTED, ServingSource, count_hits, delays_of, hits_of, sources_of
