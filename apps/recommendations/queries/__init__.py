"""Reads of recommendations and of their data."""

from apps.recommendations.queries.recommended import Reason, Recommendation, recommended, rising
