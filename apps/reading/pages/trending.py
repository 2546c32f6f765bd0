"""Trends: five lists, and curves of chosen terms."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NamedTuple, Self, get_args
from urllib.parse import quote_plus

from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.postings import queries as postings
from apps.postings.algorithms.words.languages import base_code
from apps.search.queries.addresses import search_address
from apps.trending import queries as trending
from apps.trending.algorithms.terms import whole
from apps.trending.models import Trend
from apps.trending.queries import Curve, ListRank
from apps.trending.queries.names import LISTS, language_name
from apps.web.algorithms.charts import Series, line_chart, sparkline
from apps.web.pages import Context

Method = Literal["ours", "yioop"]
Period = Literal["hours", "days", "months"]

MAX_CHARTED = 5  # terms
MAX_TERM_LENGTH = 200  # characters

LENGTH = 10  # terms per list
CHARTED = 3  # terms by default
RELATED = 5  # words
MAX_HEADLINE_POSTINGS = 2  # newest postings of a term that can be its headline
MAX_HEADLINE_LENGTH = 110  # characters
REMEMBERED = 4_096  # cached pieces of lists
STRIP = 8  # terms
# Name, step, number of steps, and date format.
PERIODS: Mapping[Period, tuple[Promise, str, int, Promise]] = {
    "hours": (_("48 hours"), "hour", 48, _("j M H:i")),
    "days": (_("30 days"), "day", 30, _("j M")),
    "months": (_("24 months"), "month", 24, _("M Y")),
}
OPENED: Sequence[Period] = ("days", "months", "hours")  # if no period is chosen
MIN_STEPS = 4  # with articles, from which a curve shows a course
METHODS: Mapping[Method, Promise] = {"ours": _("Rising now"), "yioop": _("Classic score")}


class TrendingParameters(NamedTuple):
    language: str = ""  # empty: the interface's, or else the most frequent one
    category: str = ""  # empty: all
    method: Method = "ours"
    period: Period | None = None  # None: one that has data
    terms: tuple[str, ...] = ()  # charted; empty: the first ones of the day

    @classmethod
    def read(cls, given: QueryDict) -> Self:
        """Parse an address; invalid values are ignored.

        >>> TrendingParameters.read(QueryDict("language=en&term=rain&term=rain&term=&period=year"))
        TrendingParameters(language='en', category='', method='ours', period=None, terms=('rain',))
        """
        method, period = given.get("method"), given.get("period")
        terms = (" ".join(sanitize(term).split())[:MAX_TERM_LENGTH] for term in given.getlist("term"))
        return cls(
            language=sanitize(given.get("language", ""))[:3],
            category=sanitize(given.get("category", ""))[:100],
            method="yioop" if method == "yioop" else "ours",
            period=next((known for known in get_args(Period) if known == period), None),
            terms=tuple(dict.fromkeys(filter(None, terms)))[-MAX_CHARTED:],
        )

    def address(self) -> str:
        """The query string that `read` parses.

        >>> TrendingParameters("en", terms=("new york",)).address()
        '?language=en&term=new+york'
        """
        values = [("language", self.language), ("category", self.category)]
        values += [("method", self.method)] if self.method != "ours" else []
        values += [("period", self.period)] if self.period else []
        values += [("term", term) for term in self.terms]
        return "?" + "&".join([f"{name}={_quoted(value)}" for name, value in values if value])

    def of(self, language: str, category: str) -> Self:
        terms = self.terms if language == self.language else ()
        return self._replace(language=language, category=category, terms=terms)

    def charting(self, terms: tuple[str, ...]) -> Self:
        return self._replace(terms=terms[-MAX_CHARTED:])


_quoted = lru_cache(1_024)(quote_plus)  # the many addresses of a page have the same parts


class Link(NamedTuple):
    label: str
    address: str
    is_current: bool = False


def trends_page(user: User | AnonymousUser, parameters: TrendingParameters, now: datetime) -> Context:
    """Four queries, and up to two more if the period is not chosen."""
    places = sorted(trending.ranks(), key=lambda place: place.language != base_code(get_language() or ""))
    if not parameters.language and places:
        parameters = parameters.of(places[0].language, parameters.category)
    lists = trending.lists_of(parameters.language, parameters.category, parameters.method, most=LENGTH)
    period, curves = _charted(parameters, lists, now)
    steps = _step_names(period, curves)
    shown = parameters.charting(tuple(curves))  # also default ones, so that they can be removed
    trends = [trend for each in lists.values() for trend in each]
    headlines = _headlines(user, trends)
    return {
        "parameters": parameters,
        "lists": tuple(_list(name, lists[name], shown, headlines) for name in LISTS),
        "languages": _languages(parameters, places),
        "categories": _categories(parameters, places),
        "methods": tuple(
            Link(str(METHODS[each]), parameters._replace(method=each).address(), each == parameters.method)
            for each in METHODS
        ),
        "periods": tuple(
            Link(str(PERIODS[each][0]), shown._replace(period=each).address(), each == period)
            for each in get_args(Period)
        ),
        "charted": tuple(_chip(name, curve, shown) for name, curve in curves.items()),
        "picture": _picture(period, curves, steps),  # empty without a term
        "table": _table(steps, [curve.documents for curve in curves.values()]),  # rows, one per step, the newest first
        "listed_at": max((trend.listed_at for trend in trends), default=None),
    }


class Term(NamedTuple):
    label: str
    address: str
    curve: SafeString


def trending_strip(language: str = "") -> tuple[Term, ...]:
    """The first terms of the day, in this language if there are any, for another page; two queries."""
    languages = [place.language for place in trending.ranks()]
    if not languages:
        return ()
    trends = trending.lists_of(language if language in languages else languages[0], "", most=STRIP)["day"]
    return tuple(Term(trend.term, search_address(trend.term), _curve_of(tuple(trend.curve))) for trend in trends)


# --- lists ------------------------------------------------------------------------------------------------------------
def _headlines(user: User | AnonymousUser, trends: Sequence[Trend]) -> dict[int, Link]:
    """Headlines by a term's number, as far as the user may see a posting."""
    ids = {posting_id for trend in trends for posting_id in trend.posting_ids[:MAX_HEADLINE_POSTINGS]}
    titles = dict(postings.visible_to(user).filter(pk__in=ids).exclude(title="").values_list("pk", "title"))
    return {trend.number: headline for trend in trends if (headline := _headline(trend, titles)) is not None}


def _headline(trend: Trend, titles: Mapping[int, str]) -> Link | None:
    newest = next((id for id in trend.posting_ids[:MAX_HEADLINE_POSTINGS] if id in titles), None)
    if newest is not None and trend.story_id is not None:
        return Link(_shortened(trend.label), reverse("story", args=[trend.story_id]))
    return None if newest is None else Link(_shortened(titles[newest]), reverse("posting", args=[newest]))


def _shortened(title: str) -> str:
    return title if len(title) <= MAX_HEADLINE_LENGTH else f"{title[: MAX_HEADLINE_LENGTH - 1].rstrip()}…"


def _list(horizon: str, trends: Sequence[Trend], shown: TrendingParameters, headlines: Mapping[int, Link]) -> Context:
    return {
        "horizon": horizon,
        "name": str(LISTS[horizon]),
        "rows": tuple(_row(trend, shown, headlines) for trend in trends),
    }


def _row(trend: Trend, shown: TrendingParameters, headlines: Mapping[int, Link]) -> Context:
    is_charted = trend.term in shown.terms
    terms = _without(shown.terms, trend.term) if is_charted else (*shown.terms, trend.term)
    return {
        "trend": trend,
        "search": search_address(trend.term),  # address
        "score": f"{trend.score:.1f}",
        "facts": _facts(trend),
        "picture": _curve_of(tuple(trend.curve)),
        "related": _searches(tuple(trend.related[:RELATED]), trend.language),  # links to searches
        "headline": headlines.get(trend.number),  # to the story behind it, or else to its newest posting
        "chart": shown.charting(terms).address(),  # address of this page with its curve toggled
        "is_charted": is_charted,
    }


def _facts(trend: Trend) -> str:
    number = f"{trend.documents:,}"
    postings = ngettext("{number} article", "{number} articles", trend.documents).format(number=number)
    usual = "" if trend.expected is None else gettext(", usually {number}").format(number=f"{trend.expected:.0f}")
    sources = ngettext("{number} feed", "{number} feeds", trend.sources).format(number=f"{trend.sources:,}")
    return f"{postings}{usual} · {sources}"


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
def _charted(
    parameters: TrendingParameters, lists: Mapping[str, Sequence[Trend]], now: datetime
) -> tuple[Period, dict[str, Curve]]:
    """The chosen period, or else the first one in which there is a course to see, and the curves."""
    if parameters.period is not None:
        return parameters.period, _curves(parameters, parameters.period, lists, now)
    for period in OPENED:
        curves = _curves(parameters, period, lists, now)
        steps = zip(*(curve.documents for curve in curves.values()), strict=True)
        if sum(map(any, steps)) >= MIN_STEPS:
            break
    return period, curves


def _curves(
    parameters: TrendingParameters, period: Period, lists: Mapping[str, Sequence[Trend]], now: datetime
) -> dict[str, Curve]:
    """The curves of the chosen terms by name, or else of the first ones of the day."""
    listed = {trend.term: trend.number for trends in lists.values() for trend in trends}
    names = parameters.terms or tuple(trend.term for trend in _first(lists))[:CHARTED]
    numbers = {}
    for name in names:
        if name in listed:
            numbers[name] = listed[name]
        elif (term := whole(name, parameters.language)) is not None:
            numbers[name] = term.number
    _, step, steps, _ = PERIODS[period]
    found = trending.curves_of(list(numbers.values()), step, parameters.language, parameters.category, now, steps)
    return {name: found[number] for name, number in numbers.items()}


def _first(lists: Mapping[str, Sequence[Trend]]) -> Sequence[Trend]:
    return next((lists[horizon] for horizon in ("day", "week", "month", "year", "hour") if lists[horizon]), ())


def _chip(name: str, curve: Curve, shown: TrendingParameters) -> Context:
    return {
        "name": name,
        "search": search_address(name),
        "remove": shown.charting(_without(shown.terms, name)).address(),  # address of this page without it
        "total": sum(curve.documents),
    }


def _picture(period: Period, curves: Mapping[str, Curve], steps: Sequence[str]) -> SafeString:
    if not curves:
        return SafeString()
    series = [Series(name, curve.documents) for name, curve in curves.items()]
    words = gettext("Articles with each term, {period}; the table has the same figures")
    label = words.format(period=PERIODS[period][0])
    return mark_safe(line_chart(series, steps, label=label))


def _table(steps: Sequence[str], columns: Sequence[Sequence[int]]) -> SafeString:
    """The charted figures as table rows, the last first; built here, since a template loop is several times slower."""
    rows = (
        f'<tr><th scope="row">{escape(step)}</th>'
        + "".join([f'<td class="number">{value:,}</td>' for value in values])
        + "</tr>"
        for step, *values in zip(steps, *columns, strict=True)
    )
    return mark_safe("".join(reversed([*rows])))


def _step_names(period: Period, curves: Mapping[str, Curve]) -> list[str]:
    *_, written = PERIODS[period]
    return [date_format(begin, str(written)) for curve in list(curves.values())[:1] for begin in curve.begins]


# --- places -----------------------------------------------------------------------------------------------------------
def _languages(parameters: TrendingParameters, places: Collection[ListRank]) -> tuple[Link, ...]:
    codes = dict.fromkeys(place.language for place in places)
    return tuple(
        Link(language_name(code), parameters.of(code, "").address(), code == parameters.language) for code in codes
    )


def _categories(parameters: TrendingParameters, places: Collection[ListRank]) -> tuple[Link, ...]:
    """The language's categories after "All", including the current one even if nothing trends in it."""
    known = {place.category for place in places if place.language == parameters.language} | {parameters.category, ""}
    return tuple(
        Link(
            category or gettext("All"),
            parameters.of(parameters.language, category).address(),
            category == parameters.category,
        )
        for category in sorted(known)
    )
