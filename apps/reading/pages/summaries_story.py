"""The summary of a story."""

from collections.abc import Sequence

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following import queries as following
from apps.summaries import queries as summaries
from apps.web.pages import Context


def story_part(user: User | AnonymousUser, posting_ids: Sequence[int]) -> list[Context]:
    """A summary of a story from the postings that the user may read, in their order.

    Each sentence has its source and time. Five queries.
    """
    readable = following.readable_by(user).filter(pk__in=posting_ids).select_related("source")
    postings = readable.only("pk", "published_at", "source__title", "source__url", "source__listed").in_bulk()
    return [
        {
            "text": sentence.text,
            "posting_id": sentence.posting_id,
            "source": str(postings[sentence.posting_id].source),
            "published_at": postings[sentence.posting_id].published_at,
        }
        for sentence in summaries.summary_of_story([id for id in posting_ids if id in postings])
    ]
