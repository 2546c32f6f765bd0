"""A posting said shorter, as a part of its page."""

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
    teaser: str  # what the publisher said of it; empty if it said nothing but the text
    sentences: tuple[str, ...]  # of the automatic summary; none of a text that is short itself
    percent: int  # of the text that they are
    steps: tuple[int, ...]  # percent that may be asked for
    words: tuple[WordLink, ...]  # characteristic ones, the most telling first

    @property
    def says_something(self) -> bool:
        return bool(self.teaser or self.sentences)


def summary_part(posting: Posting, percent: int | None) -> SummaryPart:
    """The summary of a posting at the step that is nearest to the percent asked for, or at the usual one.

    The caller has made sure that the person may read the posting. One query, or a few more where the posting is so new
    that its summary is not stored yet.
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
    """The same of a posting that the person may read, or None."""
    posting = following.readable_by(user).filter(pk=posting_id).first()
    return summary_part(posting, percent) if posting else None
