"""Sections on the front page, and their own pages."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import get_language

from apps.accounts.models import User
from apps.stories.models import Section
from apps.stories.queries.sections import contents, shown_sections
from apps.web.pages import Context
from apps.web.pages.rows import rows, rows_by_id
from apps.web.pages.stories import story_rows


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
    ids = {section.pk: found[section.pk].posting_ids[: section.front_size] for section in teased}
    fronts = {section.pk: found[section.pk].stories[: section.front_size] for section in teased}
    by_id = rows_by_id(user, sorted(set(chain.from_iterable(ids.values()))))
    distinct = {front.story.pk: front for front in chain.from_iterable(fronts.values())}
    stories = {row.id: row for row in story_rows(user, list(distinct.values()))}
    parts = (
        {
            "slug": section.slug,
            "title": title_of(section),
            "stories": tuple(stories[front.story.pk] for front in fronts[section.pk] if front.story.pk in stories),
            "rows": tuple(by_id[id] for id in ids[section.pk] if id in by_id),
        }
        for section in teased
    )
    return {
        "tabs": _tabs(shown),
        "parts": tuple(part for part in parts if part["stories"] or part["rows"]),
    }


def _tabs(shown: Sequence[Section]) -> tuple[Context, ...]:
    return tuple({"slug": section.slug, "title": title_of(section)} for section in shown)


def section_page(user: User | AnonymousUser, section: Section, number: int, now: datetime) -> Context:
    """A page of a section. At most four queries, plus those that refresh its contents."""
    content = contents([section], now)[section.pk]
    first, end = (number - 1) * section.page_size, number * section.page_size
    return {
        "slug": section.slug,
        "title": title_of(section),
        "tabs": _tabs(shown_sections()),
        "stories": story_rows(user, content.stories[first:end]),
        "rows": rows(user, content.posting_ids[first:end]),
        "found_at": content.found_at,
        "number": number,
        "next": number + 1 if content.count > end else 0,  # 0 at the end
    }
