"""How lists are laid out: as each person wishes, and as they wish for single sources."""

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following.models import Follow


def view_of(user: User | AnonymousUser, follow: Follow | None = None, asked: str = "") -> User.View:
    """The layout that an address asks for, or else the one of the followed source, or else the person's own."""
    of_source = follow.view if follow else ""
    own = user.view if user.is_authenticated else User.View.LIST
    return User.View(next(view for view in (asked, of_source, own) if view in User.View.values))
