"""Reader view of teasers."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _

from apps.accounts.views.requests import person_post, present
from apps.following.queries import readable_by
from apps.reading.actions.fetching import Busy
from apps.reading.actions.full_text import TooOften, fetch_text
from apps.web.views.rendering import PersonsRequest, back


@person_post
def full_text(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Fetch the page of a posting, and show its text instead of the teaser."""
    posting = present(readable_by(request.user).exclude(url="").filter(pk=posting_id).first(), "There is no such page.")
    try:
        if not fetch_text(request.user, posting):
            messages.error(request, _("The full text could not be found on the article's page."))
    except TooOften:
        messages.error(request, _("You have opened many full texts within the hour. Try again later."))
    except Busy:
        messages.error(request, _("Many pages are being fetched just now. Try again in a moment."))
    return back(request, "posting", posting_id)
