"""Reads of what is recommended, and of what that is reckoned from."""

from apps.recommendations.queries.recommended import Reason, Recommendation, recommended, rising

__all__ = ["Reason", "Recommendation", "recommended", "rising"]
