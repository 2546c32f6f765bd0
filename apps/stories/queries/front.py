"""Queries of stories for pages."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.db.models import OuterRef, QuerySet, Subquery

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_as, fetch_rows
from apps.following import queries as following
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.sources.models import Source
from apps.stories import models
from apps.stories.algorithms.features import features
from apps.stories.algorithms.ranking import Story as Ranked
from apps.stories.algorithms.ranking import StoryRank, ranked
from apps.stories.algorithms.reports import COMPARED, RELATED_TERMS, related
from apps.stories.algorithms.taste import BESIDE, WORDS, Item, Taste, interleaved, item, scores
from apps.stories.models import Authority, Member, Reaction, Redirect, Story
from apps.stories.queries.packing import unpacked, unpacked_weights
from apps.stories.queries.times import hours_of

SHORT = 600  # characters of a text whose terms are not stored


def is_learning(user: User | AnonymousUser) -> bool:
    """Whether a user's taste is learnt and used."""
    if not user.is_authenticated:
        return False
    return not models.Taste.objects.filter(user=user, is_on=False).exists()


def taste_of(user: User | AnonymousUser) -> Taste | None:
    """A user's taste; None if there is none, or it is switched off."""
    row = models.Taste.objects.filter(user=user, is_on=True).first() if user.is_authenticated else None
    return read_taste(row) if row is not None and row.weight else None


def read_taste(row: models.Taste) -> Taste:
    liked, disliked, centroid = (unpacked_weights(bytes(data)) for data in (row.liked, row.disliked, row.centroid))
    return Taste(liked, disliked, centroid, row.weight)


_ITEMS = """
SELECT posting.id, posting.source_id, source.category, coalesce(member.story_id, 0) AS story_id,
    coalesce(nullif(member.terms, ''), original.terms, '') AS terms,
    coalesce(nullif(posting.language, ''), source.language) AS language, posting.title,
    CASE WHEN coalesce(nullif(member.terms, ''), original.terms, '') = '' THEN left(text, %s) ELSE '' END AS text
FROM postings_posting posting JOIN sources_source source ON source.id = posting.source_id
LEFT JOIN stories_member member ON member.posting_id = posting.id
LEFT JOIN stories_member original ON original.posting_id = member.copy_of
WHERE posting.id = ANY(%s)
"""


def items_of(posting_ids: Collection[int]) -> dict[int, Item]:
    """The features of existing postings. One query."""
    return {row.id: _item(row) for row in fetch_rows(_ITEMS, [SHORT, list(posting_ids)])}


def _item(row: Any) -> Item:
    if row.terms:
        words = np.frombuffer(row.terms, "<i4")[:WORDS].astype(np.int32)
    else:
        found = features(row.title, row.text, row.language)
        words = found.terms[np.lexsort((found.terms, -found.emphasis))[:WORDS]]
    return item(words, source=row.source_id, category=row.category, story=row.story_id)


def passed_over(user: User, posting_id: int) -> list[int]:
    """The postings beside an opened one in the user's river that were neither opened, starred nor hidden."""
    opened = Posting.objects.only("published_at").filter(pk=posting_id).first()
    if opened is None:
        return []
    known = models.Reaction.objects.filter(user=user).exclude(opened_at=None, hidden_at=None).values("posting_id")
    river = following.postings_in(user, following.Scope("all")).exclude(pk__in=known)
    river = river.exclude(marks__in=user.marks.filter(starred_at__isnull=False))
    cursor = postings.cursor_of(opened)
    older = postings.newest(postings.before(river, cursor)).values_list("pk", flat=True)[:BESIDE]
    newer = postings.oldest(postings.after(river, cursor)).values_list("pk", flat=True)[:BESIDE]
    both = [pair for pairs in zip(_padded(newer), _padded(older), strict=True) for pair in pairs if pair is not None]
    return both[:BESIDE]


def _padded(ids: Any) -> Sequence[int | None]:
    found: list[int | None] = list(ids)
    return found + [None] * (BESIDE - len(found))


RECENT = timedelta(days=3)  # since the latest posting of a story on the front page
CONSIDERED = 400  # latest stories
MIN_SOURCES = 2


class Front(NamedTuple):
    """A story on a user's front page."""

    story: Story
    place: StoryRank
    lead_id: int  # a posting that the user may read
    sources: int  # that the user may see
    reports: int
    is_personal: bool  # whether taste decided its rank
    language: str  # of the feed of the lead


def authorities() -> dict[int, float]:
    """The authority of each source that has one."""
    return dict(Authority.objects.values_list("source_id", "value"))


def authority_of(source_id: int) -> Authority | None:
    return Authority.objects.filter(pk=source_id).first()


def front(user: User | AnonymousUser, now: datetime) -> list[Front]:
    """The stories of the last three days in the order of the front page. At most seven queries.

    Only reports that the user may read count, and only stories with two of such sources. Stories whose lead the user
    hid are left out.
    """
    stories = {
        story.pk: story
        for story in Story.objects.filter(
            sources__gte=MIN_SOURCES, latest_at__gt=now - RECENT, latest_at__lte=now
        ).order_by("-latest_at", "-pk")[:CONSIDERED]
    }
    members = _visible_members(user, stories)
    hidden = _hidden(user, [story.lead_id for story in stories.values()])
    leads: dict[int, int] = {}
    languages: dict[int, str] = {}
    found = []
    for id, story in stories.items():
        latest = {row.source_id: hours_of(row.published_at) for row in members[id]}  # by time: the latest remains
        if len(latest) < MIN_SOURCES or story.lead_id in hidden:
            continue
        lead = next((row for row in members[id] if row.posting_id == story.lead_id), members[id][0])
        leads[id], languages[id] = lead.posting_id, lead.language
        found.append(Ranked(id, latest, lead.source_id, lead.category))
    places = _placed(user, found, leads, hours_of(now)) if found else []
    return [
        Front(stories[place.id], place, leads[place.id], *_counts(members[place.id]), is_personal, languages[place.id])
        for place, is_personal in places
    ]


class _Row(NamedTuple):
    posting_id: int
    source_id: int
    published_at: datetime
    category: str
    language: str


def _visible_members(user: User | AnonymousUser, stories: Collection[int]) -> dict[int, list[_Row]]:
    visible = following.visible_sources(user).order_by().values("pk")
    source = Source.objects.filter(pk=OuterRef("source_id"))
    rows = (
        Member.objects.filter(story_id__in=stories, source_id__in=visible)
        .order_by("published_at", "posting_id")
        .annotate(category=Subquery(source.values("category")), language=Subquery(source.values("language")))
        .values_list("story_id", "posting_id", "source_id", "published_at", "category", "language", named=True)
    )
    members: defaultdict[int, list[_Row]] = defaultdict(list)
    for row in rows:
        members[row.story_id].append(_Row(row.posting_id, row.source_id, row.published_at, row.category, row.language))
    return members


def _counts(members: Sequence[_Row]) -> tuple[int, int]:
    return len({row.source_id for row in members}), len(members)


def _hidden(user: User | AnonymousUser, posting_ids: Collection[int]) -> set[int]:
    if not user.is_authenticated:
        return set()
    return set(hidden_by(user).filter(posting_id__in=posting_ids).values_list("posting_id", flat=True))


def hidden_by(user: User) -> QuerySet[Reaction]:
    return Reaction.objects.filter(user=user, hidden_at__isnull=False)


def _placed(
    user: User | AnonymousUser, stories: Sequence[Ranked], leads: dict[int, int], now: float
) -> list[tuple[StoryRank, bool]]:
    """Ranks in order, and whether taste decided each."""
    worth = authorities()
    usual = ranked(stories, worth, now)
    taste = taste_of(user)
    if taste is None:
        return [(place, False) for place in usual]
    items = items_of(list(leads.values()))
    with_items = [story for story in stories if leads[story.id] in items]
    liking = scores(taste, [items[leads[story.id]] for story in with_items])
    likings = {story.id: float(value) for story, value in zip(with_items, liking, strict=True)}
    personal = ranked(
        [Ranked(each.id, each.latest, each.lead_source, each.category, likings.get(each.id, 0.0)) for each in stories],
        worth,
        now,
    )
    places = {False: {place.id: place for place in usual}, True: {place.id: place for place in personal}}
    order = interleaved([place.id for place in personal], [place.id for place in usual])
    return [(places[not is_usual][id], not is_usual) for id, is_usual in order]


# --- one story --------------------------------------------------------------------------------------------------------
def story_of(story_id: int) -> Story | None:
    """The story of an id, or the one into which it was merged."""
    story = Story.objects.filter(pk=story_id).first()
    if story is None:
        further = Redirect.objects.filter(pk=story_id).values_list("story_id", flat=True).first()
        story = Story.objects.filter(pk=further).first() if further is not None else None
    return story


def members_of(story_id: int) -> QuerySet[Member]:
    """In the order of publication."""
    return Member.objects.filter(story_id=story_id).order_by("published_at", "posting_id")


class Report(NamedTuple):
    """Another posting of a story."""

    story_id: int
    posting_id: int
    title: str
    language: str
    source_title: str
    published_at: datetime
    own_terms: bytes  # the vector of the posting itself, and this one's
    own_weights: bytes
    terms: bytes
    weights: bytes


_REPORTS = """
SELECT member.story_id, posting.id AS posting_id,
    coalesce(nullif(posting.title, ''), left(posting.text, 120)) AS title, posting.language,
    coalesce(nullif(follow.title, ''), nullif(source.title, ''), source.url) AS source_title, posting.published_at,
    substr(own.terms, 1, 4 * %(terms)s) AS own_terms, substr(own.weights, 1, 4 * %(terms)s) AS own_weights,
    substr(original.terms, 1, 4 * %(terms)s) AS terms, substr(original.weights, 1, 4 * %(terms)s) AS weights
FROM stories_member member JOIN stories_story story ON story.id = member.story_id
JOIN stories_member own ON own.posting_id = coalesce(member.copy_of, member.posting_id)
JOIN stories_member other ON other.story_id = story.id AND other.posting_id <> member.posting_id
JOIN stories_member original ON original.posting_id = coalesce(other.copy_of, other.posting_id)
JOIN postings_posting posting ON posting.id = other.posting_id
JOIN sources_source source ON source.id = posting.source_id
LEFT JOIN following_follow follow ON follow.user_id = %(user)s AND follow.source_id = source.id
WHERE member.posting_id = %(posting)s AND story.sources >= %(fewest)s AND (source.listed OR follow.id IS NOT NULL)
ORDER BY other.copy_of IS NOT NULL, posting.published_at DESC, posting.id DESC LIMIT %(most)s
"""


def related_reports(user: User | AnonymousUser, posting_id: int, most: int) -> list[Report]:
    """The latest similar postings of a posting's story that the user may see, copies last. One query."""
    names = {"user": user.pk or 0, "posting": posting_id, "fewest": MIN_SOURCES, "most": COMPARED}
    found = fetch_as(Report, _REPORTS, names | {"terms": RELATED_TERMS}, generic=True)
    vectors = [unpacked(report.terms, report.weights) for report in found]
    shown = related(unpacked(found[0].own_terms, found[0].own_weights), vectors) if found else []
    return list(compress(found, shown))[:most]


def stories_of(posting_ids: Collection[int]) -> dict[int, Story]:
    """The stories of postings, as far as they have several sources. Two queries."""
    pairs = dict(Member.objects.filter(pk__in=posting_ids).values_list("posting_id", "story_id"))
    found = Story.objects.filter(pk__in=set(pairs.values()), sources__gte=MIN_SOURCES).in_bulk()
    return {posting_id: found[story_id] for posting_id, story_id in pairs.items() if story_id in found}


_OTHERS = """
SELECT story_id, posting_id FROM (
    SELECT member.story_id, member.posting_id,
        row_number() OVER (PARTITION BY story_id ORDER BY published_at DESC, posting_id DESC) AS place
    FROM (
        SELECT DISTINCT ON (story_id, source_id) story_id, source_id, posting_id, published_at FROM stories_member
        WHERE story_id = ANY(%s) AND posting_id <> ALL(%s) AND copy_of IS NULL
            AND (story_id, source_id) NOT IN (SELECT story_id, source_id FROM stories_member WHERE posting_id = ANY(%s))
        ORDER BY story_id, source_id, published_at DESC, posting_id DESC
    ) member
) placed WHERE place <= %s ORDER BY story_id, place
"""


def other_reports(stories: Sequence[tuple[int, int]], most: int) -> dict[int, list[int]]:
    """The latest reports of other sources than the lead's, one of each, without copies. One query.

    The caller checks access.
    """
    others: defaultdict[int, list[int]] = defaultdict(list)
    leads = [lead for _, lead in stories]
    for story_id, posting_id in fetch(_OTHERS, [[story for story, _ in stories], leads, leads, most]):
        others[story_id].append(posting_id)
    return dict(others)


def with_story(found: QuerySet[Posting]) -> QuerySet[Posting]:
    """Annotate `story_id`: the story of a posting, or None without another source."""
    member = Member.objects.filter(pk=OuterRef(OuterRef("pk"))).values("story_id")
    story = Story.objects.filter(pk__in=member, sources__gte=MIN_SOURCES).values("pk")
    return found.annotate(story_id=Subquery(story[:1]))
