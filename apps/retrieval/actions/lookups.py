"""The rate limit on lookups of addresses that the portal does not know."""

from django.utils.translation import gettext as _

from apps.accounts.actions import rate_limits
from apps.accounts.models import User
from apps.following.actions import NotPossible
from apps.sources import queries as sources

MAX_LOOKUPS, WITHIN = 60, 3_600  # of one user, by pages and APIs together; seconds


class TooOften(NotPossible):
    """A user exceeds the rate limit on lookups."""


def count_lookup(user: User) -> None:
    """Count one lookup; raises TooOften beyond the limit."""
    if not rate_limits.is_within("address", user.pk, most=MAX_LOOKUPS, seconds=WITHIN):
        words = _("At most %(most)s new addresses per hour are checked for you. Try again later.")
        raise TooOften(words % {"most": MAX_LOOKUPS})


def source_or_lookup(user: User, url: str) -> int | None:
    """The source at a normalised address; without one, counts a lookup and may raise TooOften."""
    source_id = sources.by_address([url]).get(url)
    if source_id is None:
        count_lookup(user)
    return source_id
