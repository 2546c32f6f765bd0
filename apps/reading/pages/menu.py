"""The menu of a posting in a list."""

from collections.abc import Mapping

from apps.accounts.models import User
from apps.following import queries as following
from apps.web.pages import Context
from apps.web.pages.rows import row


def posting_menu(user: User, posting_id: int, place: Mapping[str, str]) -> Context | None:
    """The menu of a posting that the user may read, or None; `place` describes its list. Two queries."""
    posting = row(user, posting_id)
    if posting is None:
        return None
    tags = list(following.tags_of(user))
    return {
        "posting": posting,
        "tags": [tag for tag in tags if tag.name in posting.own_tags],
        "other_tags": [tag for tag in tags if tag.name not in posting.own_tags],
        **{name: place.get(name, "") for name in ("scope", "order", "shown_at", "next")},
    }
