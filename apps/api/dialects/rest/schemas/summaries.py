"""Summaries of postings."""

from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema
from apps.following import queries as following
from apps.summaries import queries as summaries
from apps.summaries.algorithms.outlines import STEPS, step_of


class Summary(Schema):
    posting_id: int
    language: str
    teaser: str = Field(description="The publisher's own; empty without one.")
    sentences: list[str] = Field(description="None for a short text.")
    percent: int = Field(description="Their part of the text; 0 without any.")
    steps: list[int] = Field(description="Possible values of `percent`.")
    words: list[str] = Field(description="Keywords, the most important first.")


def summary_of(user: User, posting_id: int, percent: int | None) -> Summary | None:
    """The summary of a readable posting, or None. Two queries, or more if it is not stored yet."""
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
