"""A story of several postings said shorter, as a part of its page."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following import queries as following
from apps.summaries import queries as summaries


@dataclass(frozen=True, slots=True)
class SummarySentences:
    """Sentences of one posting that follow each other in the summary."""

    text: str
    posting_id: int
    source: str  # its title


def story_part(
    user: User | AnonymousUser, posting_ids: Sequence[int], words: int = 120
) -> tuple[SummarySentences, ...]:
    """A summary of a story in about so many words, from those of its postings that the person may read.

    The postings come in the order in which they are to be told. Four queries.
    """
    readable = following.readable_by(user).filter(pk__in=posting_ids).select_related("source")
    source_of = {
        posting.pk: str(posting.source)
        for posting in readable.only("pk", "source__title", "source__url", "source__listed")
    }
    sentences = summaries.summary_of_story([id for id in posting_ids if id in source_of], words)
    told: list[SummarySentences] = []
    for sentence in sentences:
        if told and told[-1].posting_id == sentence.posting_id:
            before = told.pop()
            told.append(SummarySentences(f"{before.text} {sentence.text}", before.posting_id, before.source))
        else:
            told.append(SummarySentences(sentence.text, sentence.posting_id, source_of[sentence.posting_id]))
    return tuple(told)
