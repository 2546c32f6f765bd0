"""The front page for visitors."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.following import queries as following
from apps.postings import queries as postings
from apps.reading.pages.languages import base_of
from apps.reading.pages.sections import front_sections
from apps.reading.pages.stories import top_stories
from apps.reading.pages.trending import trending_strip
from apps.retrieval import queries as retrieval
from apps.web.pages import Context
from apps.web.pages.rows import PostingRow, rows_by_id
from apps.web.pages.stories import StoryRow

LENGTH = 20
CARDS = 5  # stories, or articles with pictures
CONSIDERED = 600  # newest postings, from which languages, categories and pictures are chosen
ENOUGH = 5  # postings in the visitor's language; with fewer, those in all languages are shown
SECTIONS = 4
IN_SECTION = 4  # postings
MIN_COUNT = 2  # of a section
# Average delay of an article at four checks per feed and day, in minutes: docs/benchmarks.md, "Delay of articles".
DELAYS = (("Wirebeat", 51), (_("Adaptive rule"), 94), (_("Every six hours"), 180))
_HAS_PICTURE = ExpressionWrapper(~Q(image_url=""), output_field=BooleanField())


@dataclass(frozen=True, slots=True)
class Card:
    """An article with a picture, or a story with its lead."""

    posting: PostingRow
    story: StoryRow | None = None

    @property
    def image_url(self) -> str:
        """That of the first report which has one."""
        reports = (self.posting, *(self.story.others if self.story else ()))
        return next((report.image_url for report in reports if report.image_url), "")


def home_page(now: datetime) -> Context:
    """Two queries, plus those of trends and stories."""
    anonymous, language = AnonymousUser(), base_of(get_language() or "")
    sections = front_sections(anonymous, now)
    newest = postings.newest(following.folded(postings.visible_to(anonymous)))
    newest = newest.annotate(has_picture=_HAS_PICTURE)
    columns = ("pk", "source_id", "source__category", "source__language", "language", "has_picture")
    everywhere = list(newest.values_list(*columns, named=True)[:CONSIDERED])
    found = [row for row in everywhere if base_of(row.language or row.source__language) == language]
    if len(found) < ENOUGH:
        found, language = everywhere, ""
    stories = [row for row in top_stories(anonymous, now) if _fits(row.lead.language, language)]
    by_category = _categories(found) if not sections["parts"] else {}
    pictured = _with_pictures(found, stories)
    wanted = [row.pk for row in found[: LENGTH + CARDS]]
    by_id = rows_by_id(anonymous, {*wanted, *pictured, *(id for ids in by_category.values() for id in ids)})
    cards = _cards(stories, _known(by_id, pictured))
    categories = (
        {
            "title": category,
            "address": f"{reverse('catalogue')}?{urlencode({'category': category})}",
            "rows": _known(by_id, posting_ids),
        }
        for category, posting_ids in by_category.items()
    )
    carded = {card.posting.id for card in cards}
    return {
        "delays": DELAYS,
        "feeds": len({row.source_id for row in found}),  # that the page is chosen from
        "cards": cards,
        "trends": trending_strip(language),
        "sections": sections,  # by admins
        "categories": tuple(categories),  # instead of sections while there are none
        "rows": tuple(row for row in _known(by_id, wanted) if row.id not in carded)[:LENGTH],  # the newest
        "is_coming": not found and retrieval.to_check().filter(listed=True).exists(),  # news, within a minute
    }


def _fits(code: str, language: str) -> bool:
    return not language or base_of(code) in (language, "")


def _categories(newest: Sequence[Any]) -> dict[str, list[int]]:
    """The newest postings of the most frequent categories."""
    by_category: defaultdict[str, list[int]] = defaultdict(list)
    for row in newest:
        if row.source__category:
            by_category[row.source__category].append(row.pk)
    busiest = sorted(by_category, key=lambda category: (-len(by_category[category]), category))
    chosen = [category for category in busiest if len(by_category[category]) >= MIN_COUNT][:SECTIONS]
    if len(chosen) < 2:  # a single one would repeat the newest
        return {}
    return {category: by_category[category][:IN_SECTION] for category in chosen}


def _with_pictures(newest: Iterable[Any], stories: Sequence[StoryRow]) -> list[int]:
    """The newest postings with a picture, one of each source, that the stories do not show."""
    shown = {posting.id for story in stories for posting in (story.lead, *story.others)}
    by_source: dict[int, int] = {}
    for row in newest:
        if row.has_picture and row.pk not in shown:
            by_source.setdefault(row.source_id, row.pk)
    return list(islice(by_source.values(), CARDS))


def _cards(stories: Sequence[StoryRow], pictured: Iterable[PostingRow]) -> tuple[Card, ...]:
    """The first, which is shown large, is one with a picture, if there is any."""
    found = [*(Card(story.lead, story) for story in stories[:CARDS]), *map(Card, pictured)][:CARDS]
    large = next((card for card in found if card.image_url), None)
    return tuple(sorted(found, key=lambda card: card is not large))


def _known(by_id: dict[int, PostingRow], posting_ids: Sequence[int]) -> tuple[PostingRow, ...]:
    return tuple(by_id[posting_id] for posting_id in posting_ids if posting_id in by_id)
