"""Reads of saved searches."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.search.models import SavedSearch


def saved_searches(user: User) -> QuerySet[SavedSearch]:
    """By name."""
    return SavedSearch.objects.filter(user=user).order_by("name", "pk")


def saved_by_secret(secret: str) -> SavedSearch | None:
    """The search of the feed with this secret, if its user is active."""
    return SavedSearch.objects.filter(secret=sanitize(secret), user__is_active=True).select_related("user").first()
