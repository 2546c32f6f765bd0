"""Sections on the front page, and their own pages."""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import get_language

from apps.accounts.models import User
from apps.stories.models import Section
from apps.stories.queries.sections import Content, contents, shown_sections
from apps.web.pages import Context
from apps.web.pages.rows import PostingRow, rows_by_id
from apps.web.pages.stories import StoryRow, story_rows


def title_of(section: Section) -> str:
    """In the language of the interface, or else in the default one."""
    code = get_language() or ""
    titles: dict[str, str] = section.titles
    return titles.get(code) or titles.get(code.partition("-")[0]) or section.title


def front_sections(user: User | AnonymousUser, now: datetime) -> Context:
    """Four queries, plus those that refresh some of the sections' contents."""
    shown = shown_sections()
    teased = [section for section in shown if section.front_size]
    found = contents(teased, now)
    rows = _rows(user, [found[section.pk].posting_ids[: section.front_size] for section in teased])
    stories = _stories(user, [found[section.pk] for section in teased], [section.front_size for section in teased])
    parts = (
        {
            "slug": section.slug,
            "title": title_of(section),
            "stories": tuple(
                stories[front.story.pk] for front in content.stories[: section.front_size] if front.story.pk in stories
            ),
            "rows": tuple(rows[id] for id in content.posting_ids[: section.front_size] if id in rows),
        }
        for section in teased
        for content in [found[section.pk]]
    )
    return {
        "tabs": _tabs(shown),
        "parts": tuple(part for part in parts if part["stories"] or part["rows"]),
    }


def _tabs(shown: Sequence[Section]) -> tuple[Context, ...]:
    return tuple({"slug": section.slug, "title": title_of(section)} for section in shown)


def _rows(user: User | AnonymousUser, groups: Sequence[Sequence[int]]) -> dict[int, PostingRow]:
    ids = {id for group in groups for id in group}
    return rows_by_id(user, sorted(ids))


def _stories(user: User | AnonymousUser, found: Sequence[Content], sizes: Sequence[int]) -> dict[int, StoryRow]:
    fronts = {
        front.story.pk: front for content, size in zip(found, sizes, strict=True) for front in content.stories[:size]
    }
    return {row.id: row for row in story_rows(user, list(fronts.values()))}


def section_page(user: User | AnonymousUser, section: Section, number: int, now: datetime) -> Context:
    """A page of a section. At most four queries, plus those that refresh its contents."""
    content = contents([section], now)[section.pk]
    first, end = (number - 1) * section.page_size, number * section.page_size
    ids = content.posting_ids[first:end]
    rows = _rows(user, [ids])
    return {
        "slug": section.slug,
        "title": title_of(section),
        "tabs": _tabs(shown_sections()),
        "stories": story_rows(user, content.stories[first:end]),
        "rows": tuple(rows[id] for id in ids if id in rows),
        "found_at": content.found_at,
        "number": number,
        "next": number + 1 if content.count > end else 0,  # 0 at the end
    }
