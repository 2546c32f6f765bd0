"""Layouts of lists."""

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following.models import Follow


def view_of(user: User | AnonymousUser, follow: Follow | None = None, requested: str = "") -> User.View:
    """The layout of the address, or else of the followed source, or else the user's default."""
    of_source = follow.view if follow else ""
    own = user.view if user.is_authenticated else User.View.LIST
    return User.View(next(view for view in (requested, of_source, own) if view in User.View.values))
