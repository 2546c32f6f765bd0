"""What rises: five lists, curves of chosen terms, and what is said of each."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, get_args

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.postings import queries as postings
from apps.published_feeds.pages import FeedLink, menu_of_trends
from apps.reading.algorithms.trending_charts import Series, line_chart, sparkline, table_rows
from apps.reading.pages.trending_parameters import Method, Period, TrendingParameters
from apps.search.queries.addresses import search_address
from apps.stories.models import Story
from apps.stories.queries.front import stories_of
from apps.trending import queries as trending
from apps.trending.algorithms.terms import whole
from apps.trending.models import Trend
from apps.trending.queries import Curve, ListRank
from apps.trending.queries.names import LISTS, language_name

LENGTH = 10  # terms of a list; the rest of it is in its feed
CHARTED = 3  # terms, unless others were chosen
RELATED = 5  # words
SHARED = 2  # postings of a term in one story, for that to be the story behind it
TOLD = 2  # postings of a term of which one should still be there to be its headline
MAX_HEADLINE_LENGTH = 110  # characters
REMEMBERED = 4_096  # pieces of lists that are the same until the lists are made anew
STRIP = 8  # terms
# What it is called, its step, how many, and how one is written.
PERIODS: Mapping[Period, tuple[Promise, str, int, Promise]] = {
    "hours": (_("48 hours"), "hour", 48, _("j M H:i")),
    "days": (_("30 days"), "day", 30, _("j M")),
    "months": (_("24 months"), "month", 24, _("M Y")),
}
METHODS: Mapping[Method, Promise] = {"ours": _("Rising now"), "yioop": _("Classic score")}


class Link(NamedTuple):
    label: str
    address: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class TrendRow:
    trend: Trend
    search: str  # address
    score: str
    facts: str
    picture: SafeString
    related: SafeString  # links to searches
    headline: Link | None  # to the story behind it, or else to the newest posting that holds it
    chart: str  # address of this page with its curve, or without it if it is there
    is_charted: bool


@dataclass(frozen=True, slots=True)
class TrendList:
    horizon: str
    name: str
    rows: tuple[TrendRow, ...]
    feeds: tuple[FeedLink, ...]


@dataclass(frozen=True, slots=True)
class ChartedTerm:
    name: str
    search: str
    remove: str  # address of this page without it
    total: int


@dataclass(frozen=True, slots=True)
class TrendsPage:
    asked: TrendingParameters
    lists: tuple[TrendList, ...]
    languages: tuple[Link, ...]
    categories: tuple[Link, ...]
    methods: tuple[Link, ...]
    periods: tuple[Link, ...]
    charted: tuple[ChartedTerm, ...]
    picture: SafeString  # empty without a term
    table: SafeString  # rows, one per step, the newest first
    listed_at: datetime | None
    now: datetime


def trends_page(user: User | AnonymousUser, asked: TrendingParameters, now: datetime) -> TrendsPage:
    """The lists of a language and a category; six queries."""
    places = trending.ranks()
    if not asked.language and places:
        asked = asked.of(places[0].language, asked.category)
    lists = trending.lists_of(asked.language, asked.category, asked.method, most=LENGTH)
    curves = _curves(asked, lists, now)
    steps = _step_names(asked.period, curves)
    shown = asked.charting(tuple(curves))  # also those that nobody chose, so that they can be taken away
    trends = [trend for each in lists.values() for trend in each]
    headlines = _headlines(user, trends)
    return TrendsPage(
        asked=asked,
        lists=tuple(_list(name, lists[name], shown, headlines) for name in LISTS),
        languages=_languages(asked, places),
        categories=_categories(asked, places),
        methods=tuple(Link(str(METHODS[each]), asked.by(each).address(), each == asked.method) for each in METHODS),
        periods=tuple(
            Link(str(PERIODS[each][0]), shown.over(each).address(), each == asked.period) for each in get_args(Period)
        ),
        charted=tuple(_charted(name, curve, shown) for name, curve in curves.items()),
        picture=_picture(asked.period, curves, steps),
        table=mark_safe(table_rows(steps, [curve.documents for curve in curves.values()])),
        listed_at=max((trend.listed_at for trend in trends), default=None),
        now=now,
    )


def trending_strip(language: str = "") -> tuple[Link, ...]:
    """The first terms of the day with their searches, for a line on another page; two queries."""
    if not language:
        places = trending.ranks()
        if not places:
            return ()
        language = places[0].language
    trends = trending.lists_of(language, "", most=STRIP)["day"]
    return tuple(Link(trend.term, search_address(trend.term)) for trend in trends)


# --- lists ------------------------------------------------------------------------------------------------------------
def _headlines(user: User | AnonymousUser, trends: Sequence[Trend]) -> dict[int, Link]:
    """By the number of a term; of those without a posting that the person may see there is none."""
    told_in = stories_of({posting_id for trend in trends for posting_id in trend.posting_ids})
    behind = {trend.number: story for trend in trends if (story := _shared_story(trend, told_in)) is not None}
    ids = {posting_id for trend in trends for posting_id in trend.posting_ids[:TOLD]}
    ids |= {story.lead_id for story in behind.values()}
    titles = dict(postings.visible_to(user).filter(pk__in=ids).exclude(title="").values_list("pk", "title"))
    return {
        trend.number: headline
        for trend in trends
        if (headline := _headline(trend, behind.get(trend.number), titles)) is not None
    }


def _shared_story(trend: Trend, told_in: Mapping[int, Story]) -> Story | None:
    """The story that most of the term's newest postings are in, if there are two of them."""
    counts = Counter(told_in[id].pk for id in trend.posting_ids if id in told_in)
    [(story_id, count)] = counts.most_common(1) or [(0, 0)]
    return next((story for story in told_in.values() if story.pk == story_id and count >= SHARED), None)


def _headline(trend: Trend, story: Story | None, titles: Mapping[int, str]) -> Link | None:
    if story is not None and story.lead_id in titles:
        return Link(_shortened(titles[story.lead_id]), reverse("story", args=[story.pk]))
    newest = next((id for id in trend.posting_ids[:TOLD] if id in titles), None)
    return None if newest is None else Link(_shortened(titles[newest]), reverse("posting", args=[newest]))


def _shortened(title: str) -> str:
    return title if len(title) <= MAX_HEADLINE_LENGTH else f"{title[: MAX_HEADLINE_LENGTH - 1].rstrip()}…"


def _list(horizon: str, trends: Sequence[Trend], shown: TrendingParameters, headlines: Mapping[int, Link]) -> TrendList:
    feeds = menu_of_trends(shown.language, shown.category, shown.method, horizon).links
    return TrendList(horizon, str(LISTS[horizon]), tuple(_row(trend, shown, headlines) for trend in trends), feeds)


def _row(trend: Trend, shown: TrendingParameters, headlines: Mapping[int, Link]) -> TrendRow:
    is_charted = trend.term in shown.terms
    terms = _without(shown.terms, trend.term) if is_charted else (*shown.terms, trend.term)
    return TrendRow(
        trend,
        search_address(trend.term),
        f"{trend.score:.1f}",
        _facts(trend),
        _curve_of(tuple(trend.curve)),
        _searches(tuple(trend.related[:RELATED]), trend.language),
        headlines.get(trend.number),
        shown.charting(terms).address(),
        is_charted,
    )


def _facts(trend: Trend) -> str:
    number = f"{trend.documents:,}"
    postings = ngettext("{number} article", "{number} articles", trend.documents).format(number=number)
    habit = "" if trend.expected is None else gettext(", usually {number}").format(number=f"{trend.expected:.0f}")
    sources = ngettext("{number} feed", "{number} feeds", trend.sources).format(number=f"{trend.sources:,}")
    return f"{postings}{habit} · {sources}"


@lru_cache(REMEMBERED)
def _curve_of(values: tuple[int, ...]) -> SafeString:
    return mark_safe(sparkline(values))


@lru_cache(REMEMBERED)
def _searches(terms: tuple[str, ...], language: str) -> SafeString:
    links = ((search_address(term), language, term) for term in terms)
    return format_html_join("", '<a href="{}" dir="auto" lang="{}">{}</a>', links)


def _without(terms: Sequence[str], term: str) -> tuple[str, ...]:
    return tuple(other for other in terms if other != term)


# --- curves -----------------------------------------------------------------------------------------------------------
def _curves(asked: TrendingParameters, lists: Mapping[str, Sequence[Trend]], now: datetime) -> dict[str, Curve]:
    """The curves of the terms that were asked for, by name; otherwise of the first ones of the day."""
    listed = {trend.term: trend.number for trends in lists.values() for trend in trends}
    names = asked.terms or tuple(trend.term for trend in _first(lists))[:CHARTED]
    numbers = {}
    for name in names:
        if name in listed:
            numbers[name] = listed[name]
        elif (term := whole(name, asked.language)) is not None:
            numbers[name] = term.number
    _, step, steps, _ = PERIODS[asked.period]
    found = trending.curves_of(list(numbers.values()), step, asked.language, asked.category, now, steps)
    return {name: found[number] for name, number in numbers.items()}


def _first(lists: Mapping[str, Sequence[Trend]]) -> Sequence[Trend]:
    return next((lists[horizon] for horizon in ("day", "week", "month", "year", "hour") if lists[horizon]), ())


def _charted(name: str, curve: Curve, shown: TrendingParameters) -> ChartedTerm:
    return ChartedTerm(
        name, search_address(name), shown.charting(_without(shown.terms, name)).address(), sum(curve.documents)
    )


def _picture(period: Period, curves: Mapping[str, Curve], steps: Sequence[str]) -> SafeString:
    if not curves:
        return SafeString()
    series = [Series(name, curve.documents) for name, curve in curves.items()]
    words = gettext("Articles with each term, {period}; the table has the same figures")
    label = words.format(period=PERIODS[period][0])
    return mark_safe(line_chart(series, steps, label=label))


def _step_names(period: Period, curves: Mapping[str, Curve]) -> list[str]:
    *_, written = PERIODS[period]
    return [date_format(begin, str(written)) for curve in list(curves.values())[:1] for begin in curve.begins]


# --- places -----------------------------------------------------------------------------------------------------------
def _languages(asked: TrendingParameters, places: Collection[ListRank]) -> tuple[Link, ...]:
    codes = dict.fromkeys(place.language for place in places)
    return tuple(Link(language_name(code), asked.of(code, "").address(), code == asked.language) for code in codes)


def _categories(asked: TrendingParameters, places: Collection[ListRank]) -> tuple[Link, ...]:
    """The language's categories, the whole first; also the one that is asked for, though nothing trends in it."""
    known = {place.category for place in places if place.language == asked.language} | {asked.category, ""}
    return tuple(
        Link(category or gettext("All"), asked.of(asked.language, category).address(), category == asked.category)
        for category in sorted(known)
    )
