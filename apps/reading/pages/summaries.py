"""The summary of a posting."""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings.models import Posting
from apps.search.queries.addresses import search_address
from apps.summaries import queries as summaries
from apps.summaries.algorithms.outlines import STEPS, step_of


@dataclass(frozen=True, slots=True)
class WordLink:
    label: str
    address: str  # of the search for it


@dataclass(frozen=True, slots=True)
class SummaryPart:
    posting_id: int
    language: str
    teaser: str  # the publisher's own summary, or empty
    sentences: tuple[str, ...]  # of the automatic summary; none of short texts
    percent: int  # of the text
    steps: tuple[int, ...]  # available percentages
    words: tuple[WordLink, ...]  # characteristic words, the strongest first

    @property
    def says_something(self) -> bool:
        return bool(self.teaser or self.sentences)


def summary_part(posting: Posting, percent: int | None) -> SummaryPart:
    """The summary of a posting at the step nearest to the requested percentage, or at the default.

    The caller has checked access. One query, or a few more if the summary is not stored yet.
    """
    found = summaries.shortened(posting)
    step = step_of(posting.text, found.outline.summaries, percent)
    return SummaryPart(
        posting_id=posting.pk,
        language=posting.language,
        teaser=found.teaser,
        sentences=tuple(posting.text[start:end] for start, end in found.outline.summaries.get(step, ())),
        percent=step,
        steps=STEPS,
        words=tuple(WordLink(word, search_address(word)) for word in found.outline.words),
    )


def summary_of_posting(user: User | AnonymousUser, posting_id: int, percent: int | None) -> SummaryPart | None:
    """The summary of a posting that the user may read, or None."""
    posting = following.readable_by(user).filter(pk=posting_id).first()
    return summary_part(posting, percent) if posting else None
