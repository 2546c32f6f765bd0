"""The public page of a shared posting."""

from django.contrib.auth.models import AnonymousUser

from apps.following import queries as following
from apps.sources.algorithms.addresses import http_address
from apps.web.pages import Context
from apps.web.pages.icons import icon_address
from apps.web.pages.pictures import picture_for
from apps.web.pages.summaries import summary_part

TEASER = 400  # characters of a text too short for a summary


def shared_page(secret: str) -> Context | None:
    """The page at a secret address, or None."""
    share = following.share_at(secret)
    if share is None:
        return None
    posting, anonymous = share.posting, AnonymousUser()
    return {
        "posting": posting,
        "icon": icon_address(posting.source.icon_id),
        "url": http_address(posting.url),  # of the original page, empty if not on the web
        "site_url": http_address(posting.source.site_url),
        "image_url": picture_for(anonymous, http_address(posting.image_url)),
        "summary": summary_part(posting, None),
        "teaser": posting.text[:TEASER],
    }
