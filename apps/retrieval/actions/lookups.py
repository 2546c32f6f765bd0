"""How often a person may have sites asked for addresses that the portal does not know."""

from django.utils.translation import gettext as _

from apps.accounts.actions import rate_limits
from apps.accounts.models import User
from apps.following.actions import NotPossible
from apps.sources import queries as sources

MOST_LOOKUPS, WITHIN = 60, 3_600  # of one person, by whatever way they come in; in so many seconds


class TooOften(NotPossible):
    """A person had more addresses looked at of late than the portal does for anybody."""


def count_lookup(user: User) -> None:
    """Count one more address that a site is asked for.

    Raises
    ------
    TooOften
        If it is one too many: nobody may be asked then.
    """
    if not rate_limits.is_within("address", user.pk, most=MOST_LOOKUPS, seconds=WITHIN):
        words = _("At most %(most)s new addresses per hour are checked for you. Try again later.")
        raise TooOften(words % {"most": MOST_LOOKUPS})


def source_at(url: str) -> int | None:
    """The source at a normalised address."""
    return sources.by_address([url]).get(url)


def source_or_lookup(user: User, url: str) -> int | None:
    """The same for a person who names the address, which counts as a lookup if there is no source.

    Raises
    ------
    TooOften
        If there is none, and it is one lookup too many.
    """
    source_id = source_at(url)
    if source_id is None:
        count_lookup(user)
    return source_id
