"""Postings said shorter."""

from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema
from apps.following import queries as following
from apps.summaries import queries as summaries
from apps.summaries.algorithms.outlines import STEPS, step_of


class Summary(Schema):
    posting_id: int
    language: str
    teaser: str = Field(description="What the publisher said of it; empty if it said nothing but the text.")
    sentences: list[str] = Field(description="None of a text that is short itself.")
    percent: int = Field(description="Of the text that they are; 0 without any.")
    steps: list[int] = Field(description="Percent that may be asked for.")
    words: list[str] = Field(description="Characteristic ones, the most telling first.")


def summary_of(user: User, posting_id: int, percent: int | None) -> Summary | None:
    """The summary of a posting that the person may read, or None.

    Two queries, or a few more where the posting is so new that its summary is not stored yet.
    """
    posting = following.readable_by(user).filter(pk=posting_id).first()
    if posting is None:
        return None
    found = summaries.shortened(posting)
    step = step_of(posting.text, found.outline.summaries, percent)
    return Summary(
        posting_id=posting.pk,
        language=posting.language,
        teaser=found.teaser,
        sentences=[posting.text[start:end] for start, end in found.outline.summaries.get(step, ())],
        percent=step,
        steps=list(STEPS),
        words=list(found.outline.words),
    )
