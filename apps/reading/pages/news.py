"""The front page, sections, stories with their summaries, and a user's personal ranking."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings import queries as postings
from apps.postings.algorithms.words.languages import base_code
from apps.reading.pages.following import base_of
from apps.reading.pages.trending import trending_strip
from apps.retrieval import queries as retrieval
from apps.stories.algorithms.outline import outline_of
from apps.stories.models import Section, Story
from apps.stories.queries import front as stories
from apps.stories.queries.for_you import explaining_words, own_order
from apps.stories.queries.front import is_learning, taste_of
from apps.stories.queries.sections import contents, shown_sections
from apps.summaries import queries as summaries
from apps.web.algorithms.charts import timeline
from apps.web.pages import Context
from apps.web.pages.durations import day_and_time
from apps.web.pages.rows import PostingRow, StoryRow, rows, rows_by_id, story_rows

NEWEST = 20
CARDS = 5  # stories, or articles with pictures
CONSIDERED = 600  # newest postings, from which languages, categories and pictures are chosen
ENOUGH = 5  # postings in the visitor's language; with fewer, those in all languages are shown
SECTIONS = 4
IN_SECTION = 4  # postings
MIN_COUNT = 2  # per section
# Average delay of an article at four checks per feed and day, in minutes: docs/benchmarks.md, "Delay of articles".
DELAYS = (("Wirebeat", 51), (gettext_lazy("Adaptive rule"), 94), (gettext_lazy("Every six hours"), 180))
_HAS_PICTURE = ExpressionWrapper(~Q(image_url=""), output_field=BooleanField())

LENGTH = 30  # stories or postings per page
TEASED = 6  # stories on the home page
MAX_POSTINGS = 300  # shown per story
Listed = TypeVar("Listed")


# --- front page -------------------------------------------------------------------------------------------------------
class Card(NamedTuple):
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
    teased = story_rows(anonymous, stories.front(anonymous, now)[:TEASED])
    shown = [row for row in teased if _fits(row.lead.language, language)]
    by_category = _categories(found) if not sections["parts"] else {}
    pictured = _with_pictures(found, shown)
    wanted = [row.pk for row in found[: NEWEST + CARDS]]
    by_id = rows_by_id(anonymous, {*wanted, *pictured, *(id for ids in by_category.values() for id in ids)})
    cards = _cards(shown, _known(by_id, pictured))
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
        "categories": tuple(categories),  # shown while there are no sections
        "rows": tuple(row for row in _known(by_id, wanted) if row.id not in carded)[:NEWEST],  # the newest
        "is_coming": not found and retrieval.to_check().filter(listed=True).exists(),  # up to a minute old
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


# --- sections ---------------------------------------------------------------------------------------------------------
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
            "title": section.title,
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
    return tuple({"slug": section.slug, "title": section.title} for section in shown)


def section_page(user: User | AnonymousUser, section: Section, number: int, now: datetime) -> Context:
    """A page of a section. At most four queries, plus those that refresh its contents."""
    content = contents([section], now)[section.pk]
    first, end = (number - 1) * section.page_size, number * section.page_size
    return {
        "slug": section.slug,
        "title": section.title,
        "tabs": _tabs(shown_sections()),
        "stories": story_rows(user, content.stories[first:end]),
        "rows": rows(user, content.posting_ids[first:end]),
        "found_at": content.found_at,
        "number": number,
        "next": number + 1 if content.count > end else 0,  # 0 at the end
    }


# --- stories ----------------------------------------------------------------------------------------------------------
def stories_page(user: User | AnonymousUser, number: int, now: datetime) -> Context:
    """Those in languages that the user follows come first. At most eleven queries."""
    own, found = following.followed_languages(user), stories.front(user, now)
    if own:
        found.sort(key=lambda each: base_code(each.language) not in {*own, ""})
    shown, place = _part(found, number)
    return {"rows": story_rows(user, shown)} | place


def _part(found: Sequence[Listed], number: int) -> tuple[Sequence[Listed], Context]:
    """A page of a list, from 1, with the number of the next one, 0 at the end."""
    end = number * LENGTH
    return found[end - LENGTH : end], {"number": number, "next": number + 1 if len(found) > end else 0}


def story_page(user: User | AnonymousUser, story: Story) -> Context | None:
    """The part of a story that the user may read; None if that is empty. Six queries."""
    members = list(stories.members_of(story.pk).values_list("posting_id", "copy_of")[: MAX_POSTINGS + 1])
    found = rows_by_id(user, [id for id, _ in members[:MAX_POSTINGS]])
    if not found:
        return None
    copies: defaultdict[int, list[PostingRow]] = defaultdict(list)
    originals = []
    for id, copy_of in members[:MAX_POSTINGS]:
        if id in found and copy_of is not None and copy_of in found:
            copies[copy_of].append(found[id])
        elif id in found:
            originals.append(id)
    lead = found.get(story.lead_id, found[originals[0]])
    ordered = [found[id] for id, _ in members[:MAX_POSTINGS] if id in found]
    times = [row.published_at for row in ordered]
    outline = outline_of([(found[id].title, found[id].excerpt) for id in originals], lead.language)
    neutral = found[originals[outline.neutral]]
    added = dict(zip(originals[1:], outline.added[1:], strict=True))
    return {
        "story": story,
        "lead": neutral,  # the report closest to all others
        "names": outline.names,
        # The newest first.
        "reports": [{"row": found[id], "copies": copies[id], "added": added.get(id, ())} for id in reversed(originals)],
        "sources": _shares(ordered),  # in order of their first reports
        "first_at": times[0],
        "latest_at": times[-1],
        "picture": _timeline(times),
        "summary": story_part(user, [lead.id, *(id for id in originals if id != lead.id)][:12]),
        "is_cut": len(members) > MAX_POSTINGS,  # whether not all postings are shown
    }


def _timeline(times: Sequence[datetime]) -> SafeString:
    label = _("When the articles of this story were published")
    return mark_safe(timeline(times, label=label, format_time=day_and_time, title=_reports_title))


def _reports_title(day: str, count: int) -> str:
    return ngettext("{day}: {count} article", "{day}: {count} articles", count).format(day=day, count=count)


def _shares(ordered: Sequence[PostingRow]) -> tuple[Context, ...]:
    shown = {row.source_id: (row.source_title, row.icon) for row in ordered}
    counts = Counter(row.source_id for row in ordered)
    first = {row.source_id: row.published_at for row in reversed(ordered)}
    return tuple(
        {"source_id": id, "title": title, "icon": icon, "reports": counts[id], "first_at": first[id]}
        for id, (title, icon) in shown.items()
    )


def story_part(user: User | AnonymousUser, posting_ids: Sequence[int]) -> list[Context]:
    """A summary of a story from the postings that the user may read, in their order.

    Each sentence has its source and time. Five queries.
    """
    readable = following.readable_by(user).filter(pk__in=posting_ids).select_related("source")
    postings = readable.only("pk", "published_at", "source__title", "source__url", "source__listed").in_bulk()
    return [
        {
            "text": sentence.text,
            "posting_id": sentence.posting_id,
            "source": str(postings[sentence.posting_id].source),
            "published_at": postings[sentence.posting_id].published_at,
        }
        for sentence in summaries.summary_of_story([id for id in posting_ids if id in postings])
    ]


# --- personal ranking -------------------------------------------------------------------------------------------------
def for_you_page(user: User, number: int, now: datetime) -> Context:
    """A page of the user's personal ranking. At most nine queries."""
    taste = taste_of(user)
    shown, place = _part(own_order(user, now), number)
    by_id = rows_by_id(user, [each.posting_id for each in shown])
    listed = []
    for each in shown:
        row = by_id.get(each.posting_id)
        if row is None:
            continue
        text = f"{row.title} {row.excerpt}"
        words = explaining_words(taste, text, row.language, liked=each.taste > 0) if taste and each.is_personal else []
        listed.append({"posting": row, "place": each, "words": words})
    return {
        "rows": tuple(listed),
        "is_on": is_learning(user),
        "learnt": taste is not None,  # whether a taste is known
    } | place
