"""Contents of the front page's sections: the same for all users, refreshed every few minutes at most.

Pages do not wait for costly queries: contents are cached, the longer the more they cost, and stale ones are shown until
a process has refreshed them. One process at a time does, within a time limit.
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
MAX_SHOWN = 300  # postings or stories per section
MAX_RANKED = 90  # postings by relevance
MAX_STATEMENT_SECONDS = 1.5  # s
KEPT = timedelta(seconds=120)  # at least
SHARE = 0.01  # of one process' time per section: a query of a second is cached for a hundred
RESTING = timedelta(minutes=30)  # after a query that timed out
REMEMBERED = 86_400  # s; until then stale contents are shown
AT_WORK = 30  # s until the lock of a crashed process expires
ROOM = 0.4  # s that one page spends on refreshing
VERSION = 2  # of cached contents


@dataclass(frozen=True)
class Content:
    """The postings or stories of a section, in order."""

    posting_ids: tuple[int, ...] = ()
    stories: tuple[Front, ...] = ()
    found_at: datetime | None = None  # None: never
    good_until: datetime | None = None
    milliseconds: float = 0.0
    problem: str = ""  # why the last refresh failed

    @property
    def count(self) -> int:
        return len(self.posting_ids) or len(self.stories)


NOTHING = Content()


def sections() -> QuerySet[Section]:
    """All sections in order."""
    return Section.objects.order_by("place", "pk")


def shown_sections() -> list[Section]:
    """Visible sections in order. One query."""
    return list(sections().filter(is_on=True)[:MAX_SECTIONS])


def section_named(slug: str) -> Section | None:
    return Section.objects.filter(slug=slug).first()


def tree_of(section: Section) -> Tree:
    """The query of a section; raises BadQuery for a wrong query or language."""
    tree = parse(section.query)
    if section.category.strip():
        tree = narrowed(tree, "category", section.category)
    if section.language.strip():
        tree = narrowed(tree, "lang", code_of(section.language))
    return tree


def code_of(language: str) -> str:
    """The code of a language in queries; raises BadQuery for an unknown one.

    >>> code_of("pt-BR")
    'pt'
    """
    parsed = parse(f'lang:"{quotable(language)}"')
    return parsed.values[0] if isinstance(parsed, Filter) else ""


def contents(wanted: Sequence[Section], now: datetime, *, refresh: bool = True) -> dict[int, Content]:
    """The contents of sections by id: cached, or with `refresh` updated within the time limit."""
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
    """Refresh the contents of a section, unless another process does."""
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
    """The current contents of a section; raises BadQuery, TooCostly, and TookTooLong after a statement timeout."""
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
        result = search(AnonymousUser(), tree, order="fresh", cursor=cursor, expansion=False, now=now)
        found += result.postings
        cursor = result.next
        if not cursor:
            break
    return found[:MAX_RANKED]
