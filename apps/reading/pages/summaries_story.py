"""The summary of a story."""

from collections.abc import Sequence

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following import queries as following
from apps.summaries import queries as summaries
from apps.web.pages import Context


def story_part(user: User | AnonymousUser, posting_ids: Sequence[int], words: int = 120) -> list[Context]:
    """A summary of a story in about `words` words, from the postings that the user may read, in their order.

    Four queries.
    """
    readable = following.readable_by(user).filter(pk__in=posting_ids).select_related("source")
    source_of = {
        posting.pk: str(posting.source)
        for posting in readable.only("pk", "source__title", "source__url", "source__listed")
    }
    sentences = summaries.summary_of_story([id for id in posting_ids if id in source_of], words)
    parts: list[Context] = []  # consecutive sentences of one posting each
    for sentence in sentences:
        if parts and parts[-1]["posting_id"] == sentence.posting_id:
            parts[-1]["text"] += f" {sentence.text}"
        else:
            source = source_of[sentence.posting_id]
            parts.append({"text": sentence.text, "posting_id": sentence.posting_id, "source": source})
    return parts
