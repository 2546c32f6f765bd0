"""What everybody sees who knows the secret address of a shared posting."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from apps.following import queries as following
from apps.reading.pages.summaries import SummaryPart, summary_part
from apps.sources.algorithms.addresses import http_address
from apps.web.pages.pictures import picture_for

TEASER = 400  # characters that are shown of a text too short for a summary


@dataclass(frozen=True, slots=True)
class SharedPage:
    """Nothing of the person who shares it, and nothing of the feed's own address, which may be a secret of theirs."""

    title: str
    language: str
    source_title: str
    url: str  # of the original page, empty if it has none on the web
    site_url: str
    author: str
    image_url: str
    published_at: datetime
    summary: SummaryPart
    teaser: str
    now: datetime


def shared_page(secret: str, now: datetime) -> SharedPage | None:
    """The page at a secret address, or None where nothing is shared."""
    share = following.share_at(secret)
    if share is None:
        return None
    posting, nobody = share.posting, AnonymousUser()
    return SharedPage(
        title=posting.title,
        language=posting.language,
        source_title=posting.source.title,
        url=http_address(posting.url),
        site_url=http_address(posting.source.site_url),
        author=posting.author,
        image_url=picture_for(nobody, http_address(posting.image_url)),
        published_at=posting.published_at,
        summary=summary_part(posting, None),
        teaser=posting.text[:TEASER],
        now=now,
    )
