"""Reads of saved searches."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.search.models import SavedSearch


def saved_searches(user: User) -> QuerySet[SavedSearch]:
    """By name, without rules in plain fields."""
    return SavedSearch.objects.filter(user=user, plain__isnull=True).order_by("name", "pk")


def plain_rules(user: User) -> QuerySet[SavedSearch]:
    """Rules in plain fields, the newest first."""
    return SavedSearch.objects.filter(user=user, plain__isnull=False).order_by("-pk")


def saved_by_secret(secret: str) -> SavedSearch | None:
    """The search of the feed with this secret, if its user is active."""
    return SavedSearch.objects.filter(secret=sanitize(secret), user__is_active=True).select_related("user").first()
