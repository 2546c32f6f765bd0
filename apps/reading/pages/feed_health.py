"""The health of followed sources, explained for readers."""

from django.core.paginator import Page, Paginator
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.feed_health import queries as notices
from apps.feed_health.queries import Health
from apps.following import queries as following
from apps.web.pages import Context

LENGTH = 50


class _Followed:
    """A user's followed sources for a Paginator: one query for the count, one for a page."""

    def __init__(self, user: User) -> None:
        self._user = user

    def count(self) -> int:
        return following.follows_of(self._user).count()

    def __getitem__(self, part: slice) -> list[Health]:
        return notices.health_of_followed(self._user, start=part.start, limit=part.stop - part.start)


def health_page(user: User, number: str) -> Context:
    """Four queries."""
    place: Page[Health] = Paginator(_Followed(user), LENGTH).get_page(number)  # type: ignore[arg-type]
    shown = tuple(notices.open_notices(user)[: notices.MAX_SHOWN])
    return {
        "notices": shown,
        "latest_notice": max((notice.pk for notice in shown), default=0),
        "rows": [{"health": each, "reason": reason(each)} for each in place.object_list],  # failing ones first
        "place": place,
        "by_mail": notices.wants_mail(user),
    }


def reason(health: Health) -> str:
    """Why a source fails, in plain words."""
    if health.state == "gone":
        return _("The publisher has ended this feed.")
    if health.state == "paused":
        return _("Paused by an administrator.")
    return why(health.outcome, health.status, health.message) if health.failures else ""


def why(outcome: str, status: int, message: str) -> str:
    """The meaning of the latest failed retrieval."""
    if outcome == "not_a_feed":
        return _("There is no readable feed at this address.")
    if outcome == "refused":
        return _("The site does not allow automatic reading (robots.txt), or its address is not allowed.")
    if status in (401, 403):
        return _("The site denies access ({status}).").format(status=status)
    if status in (404, 410):
        return _("There is nothing at this address any more ({status}).").format(status=status)
    if status == 429:
        return _("The site asks for fewer requests ({status}).").format(status=status)
    if status >= 500:
        return _("The site has a server error ({status}).").format(status=status)
    if status:
        return _("The site answered with status {status}.").format(status=status)
    return message or _("The site did not respond.")
