"""What sections of the front page show: the same to everybody, found anew every few minutes at most.

A page never waits for a query that is known to be costly: what was found is kept, the longer the more it cost, and
shown until somebody has found it anew. That is one process at a time, and only for as long as a page may take.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db.models import QuerySet

from apps.database.statement_timeout import TookTooLong, statement_timeout
from apps.search.algorithms.language import BadQuery, Filter, Tree, narrowed, parse
from apps.search.algorithms.language.trees import quotable
from apps.search.queries import TooCostly, matching, search
from apps.stories.models import Section
from apps.stories.queries.front import Front, front

MAX_SECTIONS = 30
MAX_SHOWN = 300  # postings or stories of a section
MAX_RANKED = 90  # postings, in an order by relevance
MAX_STATEMENT_SECONDS = 1.5  # s
KEPT = timedelta(seconds=120)  # what was found, at least
SHARE = 0.01  # of one process' time that a section may take: what took a second is kept for a hundred
RESTING = timedelta(minutes=30)  # a query that took too long
REMEMBERED = 86_400  # s; until then something old is better than nothing
AT_WORK = 30  # s after which whoever was at it is taken for dead
ROOM = 0.4  # s that one page spends on finding anew
VERSION = 1  # of what is kept


@dataclass(frozen=True)
class Content:
    """What a section shows, in its order: postings, or stories."""

    posting_ids: tuple[int, ...] = ()
    stories: tuple[Front, ...] = ()
    found_at: datetime | None = None  # None: never
    good_until: datetime | None = None
    milliseconds: float = 0.0
    problem: str = ""  # why it could not be found anew when that was last tried: what is here is from before

    @property
    def count(self) -> int:
        return len(self.posting_ids) or len(self.stories)


NOTHING = Content()


def sections() -> QuerySet[Section]:
    """All of them, in their order."""
    return Section.objects.order_by("place", "pk")


def shown_sections() -> list[Section]:
    """Those that are switched on, in their order. One query."""
    return list(sections().filter(is_on=True)[:MAX_SECTIONS])


def section_named(slug: str) -> Section | None:
    return Section.objects.filter(slug=slug).first()


def tree_of(section: Section) -> Tree:
    """What a section asks for.

    Raises
    ------
    BadQuery
        If its query or its language cannot be read.
    """
    tree = parse(section.query)
    if section.category.strip():
        tree = narrowed(tree, "category", section.category)
    if section.language.strip():
        tree = narrowed(tree, "lang", code_of(section.language))
    return tree


def code_of(language: str) -> str:
    """A language as queries name it.

    >>> code_of("pt-BR")
    'pt'

    Raises
    ------
    BadQuery
        If there is no such language.
    """
    parsed = parse(f'lang:"{quotable(language)}"')
    return parsed.values[0] if isinstance(parsed, Filter) else ""


def contents(wanted: Sequence[Section], now: datetime, *, refresh: bool = True) -> dict[int, Content]:
    """What each section shows, by its id: as it was kept, or found anew while there is time for that, if wished."""
    keys = {section.pk: _key(section) for section in wanted}
    kept = cache.get_many(keys.values()) if keys else {}
    started = time.monotonic()
    found = {}
    for section in wanted:
        content: Content = kept.get(keys[section.pk], NOTHING)
        is_due = content.good_until is None or content.good_until <= now
        if refresh and is_due and time.monotonic() - started < ROOM:
            content = _refreshed(section, content, now)
        found[section.pk] = content
    return found


def _key(section: Section) -> str:
    return f"stories.section.{VERSION}.{section.pk}.{section.revision}"


def _refreshed(section: Section, former: Content, now: datetime) -> Content:
    """Find anew what a section shows, unless somebody is at it."""
    key = _key(section)
    if not cache.add(f"{key}.at_work", 1, AT_WORK):
        return former
    try:
        content = find(section, now)
    except (TooCostly, TookTooLong, BadQuery) as problem:
        content = replace(former, good_until=now + RESTING, problem=str(problem))
    cache.set(key, content, REMEMBERED)
    cache.delete(f"{key}.at_work")
    return content


def find(section: Section, now: datetime) -> Content:
    """What a section shows now, to everybody.

    Raises
    ------
    BadQuery
        If its query cannot be read.
    TooCostly, TookTooLong
        If a statement took longer than any of a section may.
    """
    started = time.perf_counter()
    tree, anonymous = tree_of(section), AnonymousUser()
    posting_ids: list[int] = []
    stories: list[Front] = []
    with statement_timeout(MAX_STATEMENT_SECONDS):
        match section.order:
            case Section.Order.STORIES:
                all_stories = front(anonymous, now)
                leads = matching(anonymous, tree, now=now, posting_ids={story.lead_id for story in all_stories})
                matching_leads = set(leads)
                stories = [story for story in all_stories if story.lead_id in matching_leads][:MAX_SHOWN]
            case Section.Order.RELEVANCE:
                posting_ids = _by_relevance(tree, now)
            case _:
                posting_ids = matching(anonymous, tree, now=now)[:MAX_SHOWN]
    seconds = time.perf_counter() - started
    return Content(
        posting_ids=tuple(posting_ids),
        stories=tuple(stories),
        found_at=now,
        good_until=now + max(KEPT, timedelta(seconds=seconds / SHARE)),
        milliseconds=1_000 * seconds,
    )


def _by_relevance(tree: Tree, now: datetime) -> list[int]:
    found: list[int] = []
    cursor = ""
    while len(found) < MAX_RANKED:
        result = search(
            AnonymousUser(),
            tree,
            order="fresh",
            cursor=cursor,
            expansion=False,
            removed_terms=(),
            liked_ids=(),
            disliked_ids=(),
            now=now,
        )
        found += result.postings
        cursor = result.next
        if not cursor:
            break
    return found[:MAX_RANKED]
