"""Sections of the front page, as staff arrange them."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from apps.database.statement_timeout import TookTooLong
from apps.search.algorithms.language import BadQuery
from apps.search.queries import TooCostly
from apps.sources import queries as sources
from apps.stories.models import Section
from apps.stories.queries.sections import MAX_SHOWN, NOTHING, Content, contents, find, sections
from apps.web.pages.rows import PostingRow, rows_by_id
from apps.web.pages.search_query import Complaint, complaint
from apps.web.pages.stories import StoryRow, story_rows

PREVIEWED = 8

COSTLY = 500.0  # milliseconds from which staff are told that a query costs much


@dataclass(frozen=True, slots=True)
class ArrangedSection:
    section: Section
    content: Content
    is_costly: bool


@dataclass(frozen=True, slots=True)
class SectionsPage:
    sections: tuple[ArrangedSection, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class SectionPreview:
    """What a section would show, or why it cannot be."""

    stories: tuple[StoryRow, ...] = ()
    rows: tuple[PostingRow, ...] = ()
    count: int = 0
    is_all: bool = True  # else there is more than a section shows
    milliseconds: float = 0.0
    is_costly: bool = False
    complaint: Complaint | None = None
    problem: str = ""


def sections_page(now: datetime) -> SectionsPage:
    """All sections as staff arrange them; what is kept of each, and nothing found anew. One query."""
    arranged = list(sections())
    kept = contents(arranged, now, anew=False)
    return SectionsPage(
        tuple(
            ArrangedSection(section, content, content.milliseconds > COSTLY)
            for section in arranged
            for content in [kept.get(section.pk, NOTHING)]
        ),
        now,
    )


def preview(section: Section, now: datetime) -> SectionPreview:
    """Try a section out, as everybody would see it; nothing is kept."""
    nobody = AnonymousUser()
    try:
        content = find(section, now)
    except BadQuery as error:
        return SectionPreview(complaint=complaint(section.query, error))
    except (TooCostly, TookTooLong) as error:
        return SectionPreview(problem=str(error))
    ids = content.posting_ids[:PREVIEWED]
    rows = rows_by_id(nobody, ids)
    return SectionPreview(
        stories=story_rows(nobody, content.stories[:PREVIEWED]),
        rows=tuple(rows[id] for id in ids if id in rows),
        count=content.count,
        is_all=content.count < MAX_SHOWN,
        milliseconds=content.milliseconds,
        is_costly=content.milliseconds > COSTLY,
    )


def known_categories() -> list[str]:
    return sources.categories(sources.listed())
