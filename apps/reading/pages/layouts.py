"""Layouts of lists."""

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following.models import Follow


def view_of(
    user: User | AnonymousUser, follow: Follow | None = None, requested: str = "", list_name: str = ""
) -> User.View:
    """The layout of the address, or else of the followed source or the list, or else the user's default."""
    of_source = follow.view if follow else ""
    own = user.view if user.is_authenticated else User.View.LIST
    of_list = user.list_views.get(list_name) if user.is_authenticated else ""
    return User.View(next(view for view in (requested, of_source, of_list, own) if view in User.View.values))
