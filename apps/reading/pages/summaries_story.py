"""The summary of a story."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following import queries as following
from apps.summaries import queries as summaries


@dataclass(frozen=True, slots=True)
class SummarySentences:
    """Consecutive sentences of one posting."""

    text: str
    posting_id: int
    source: str  # its title


def story_part(
    user: User | AnonymousUser, posting_ids: Sequence[int], words: int = 120
) -> tuple[SummarySentences, ...]:
    """A summary of a story in about `words` words, from the postings that the user may read, in their order.

    Four queries.
    """
    readable = following.readable_by(user).filter(pk__in=posting_ids).select_related("source")
    source_of = {
        posting.pk: str(posting.source)
        for posting in readable.only("pk", "source__title", "source__url", "source__listed")
    }
    sentences = summaries.summary_of_story([id for id in posting_ids if id in source_of], words)
    parts: list[SummarySentences] = []
    for sentence in sentences:
        if parts and parts[-1].posting_id == sentence.posting_id:
            before = parts.pop()
            parts.append(SummarySentences(f"{before.text} {sentence.text}", before.posting_id, before.source))
        else:
            parts.append(SummarySentences(sentence.text, sentence.posting_id, source_of[sentence.posting_id]))
    return tuple(parts)
