"""The summary of a story."""

from collections.abc import Sequence
from itertools import groupby

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following import queries as following
from apps.summaries import queries as summaries
from apps.web.pages import Context


def story_part(user: User | AnonymousUser, posting_ids: Sequence[int]) -> list[Context]:
    """A summary of a story from the postings that the user may read, in their order.

    Four queries.
    """
    readable = following.readable_by(user).filter(pk__in=posting_ids).select_related("source")
    source_of = {
        posting.pk: str(posting.source)
        for posting in readable.only("pk", "source__title", "source__url", "source__listed")
    }
    sentences = summaries.summary_of_story([id for id in posting_ids if id in source_of])
    return [
        {"text": " ".join(each.text for each in of_one), "posting_id": posting_id, "source": source_of[posting_id]}
        for posting_id, of_one in groupby(sentences, key=lambda sentence: sentence.posting_id)
    ]
