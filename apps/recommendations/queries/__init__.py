"""Reads of what is recommended, and of what that is reckoned from."""

from apps.recommendations.queries.recommended import Reason, Recommendation, recommended, rising
