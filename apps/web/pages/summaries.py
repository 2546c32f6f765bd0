"""The summary of a posting."""

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings.models import Posting
from apps.search.queries.addresses import search_address
from apps.summaries import queries as summaries
from apps.summaries.algorithms.outlines import STEPS, chosen
from apps.web.pages import Context


def summary_part(posting: Posting, percent: int | None) -> Context:
    """The summary of a posting at the step nearest to the requested percentage, by default in three to five
    sentences.

    The caller has checked access. One query, or a few more if the summary is not stored yet.
    """
    found = summaries.shortened(posting)
    share, places = chosen(posting.text, found.outline.summaries, percent)
    return {
        "posting_id": posting.pk,
        "language": posting.language,
        "teaser": found.teaser,  # the publisher's own summary, or empty
        "sentences": tuple(posting.text[start:end] for start, end in places),
        "percent": share,  # of the text
        "steps": STEPS,
        "words": [{"label": word, "address": search_address(word)} for word in found.outline.words],
    }


def summary_of_posting(user: User | AnonymousUser, posting_id: int, percent: int | None) -> Context | None:
    """The summary of a posting that the user may read, or None."""
    posting = following.readable_by(user).filter(pk=posting_id).first()
    return summary_part(posting, percent) if posting else None
