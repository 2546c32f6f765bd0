"""The catalogue of sources and its languages, the first pages of new users, and the health of followed sources."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Lower
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.feed_health import queries as notices
from apps.feed_health.queries import Health
from apps.following import queries as following
from apps.following.queries import Scope
from apps.following.queries.listing import listed
from apps.postings import queries as postings
from apps.recommendations import queries as recommendations
from apps.recommendations.queries import Recommendation, risen
from apps.sources import queries as sources
from apps.sources.models import Source
from apps.web.pages import Context
from apps.web.pages.rows import icon_address, rows

LENGTH = 40
RECOMMENDED = 6
SORTS: dict[str, tuple[Any, ...]] = {
    "popular": ("-followers", Lower("title"), "pk"),
    "rising": (F("growth__value").desc(nulls_last=True), "-followers", "pk"),
    "new": ("-added_at", "-pk"),
    "name": (Lower("title"), "pk"),
}

SAMPLES = 4  # named sources per interest
FOLLOWED_AT_ONCE = 6  # most followed sources per interest
FIRST_POSTINGS = 40
WAITED_FOR = timedelta(minutes=3)  # for the first check of a newly followed source

SOURCES_SHOWN = 50


# --- catalogue --------------------------------------------------------------------------------------------------------
def catalogue_page(
    user: User | AnonymousUser,
    *,
    words: str,
    category: str,
    language: str,
    number: str,
    now: datetime,
    sort: str = "popular",
) -> Context:
    """At most twelve queries."""
    sort = sort if sort in SORTS else "popular"
    listed = sources.listed()
    found = sources.matching(listed, words)
    if category:
        found = found.filter(category=category)
    if language:
        found = found.filter(in_languages([language]))
    counted = following.with_follower_counts(found).order_by(*SORTS[sort])
    place = Paginator(counted, LENGTH).get_page(number)
    shown: list[Source] = list(place.object_list)
    is_front = place.number == 1 and not (words or category or language)
    return {
        "entries": _entries(user, shown, now),
        "recommended": recommended_entries(user, now) if is_front else (),  # only on the first page without filters
        "place": place,
        "categories": category_choices(listed),
        "languages": language_choices(_counted(listed, "language")),
        "words": words,
        "category": category,
        "language": base_of(language),
        "sort": sort,
    }


def category_choices(found: QuerySet[Source]) -> list[Context]:
    """The categories of sources, by name."""
    return [{"name": name, "count": count} for name, count in sorted(_counted(found, "category")) if name]


def _counted(found: QuerySet[Source], column: str) -> list[tuple[str, int]]:
    return list(found.order_by(column).values_list(column).annotate(count=Count("pk")))


def recommended_entries(user: User | AnonymousUser, now: datetime) -> list[Context]:
    """Recommended sources, for visitors rising ones. At most five queries."""
    found: Sequence[Recommendation] = (
        recommendations.recommended(user, RECOMMENDED)
        if user.is_authenticated
        else recommendations.rising(user, RECOMMENDED)
    )
    weekly = postings.weekly_counts([each.source.pk for each in found], now)
    return [_entry(each.source, weekly) | {"reason": each.reason} for each in found]


def _entries(user: User | AnonymousUser, shown: Collection[Source], now: datetime) -> list[Context]:
    source_ids = [source.pk for source in shown]
    followed = following.followed_among(user, source_ids)
    weekly, rising = postings.weekly_counts(source_ids, now), risen(source_ids)
    return [
        _entry(source, weekly) | {"followed": source.pk in followed, "is_rising": source.pk in rising}
        for source in shown
    ]


def _entry(source: Source, weekly: Mapping[int, int]) -> Context:
    return {
        "source": source,  # with `followers`
        "followed": False,
        "weekly": weekly.get(source.pk, 0),  # postings of the last seven days
        "icon": icon_address(source.icon_id),
        "language": language_name(source.language) if source.language else "",
    }


# --- languages --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LanguageChoice:
    code: str  # without country or script
    name: str  # native
    count: int  # of sources


def base_of(code: str) -> str:
    """A language without its country or script.

    >>> base_of("pt-BR"), base_of("EN_us"), base_of("")
    ('pt', 'en', '')
    """
    return code.replace("_", "-").partition("-")[0].lower()


def language_name(code: str) -> str:
    """The native name of a language; its code if that is not known.

    >>> language_name("de-AT"), language_name("zh-CN"), language_name("zh"), language_name("tlh")
    ('Deutsch', '简体中文', '中文', 'tlh')
    """
    if code.lower() == "zh":  # without a script Django has no name for it
        return "中文"
    for known in (code.lower(), base_of(code)):
        try:
            name = str(get_language_info(known)["name_local"])
        except KeyError:
            continue
        return name[:1].upper() + name[1:]
    return code


def language_choices(counted: Iterable[tuple[str, int]]) -> tuple[LanguageChoice, ...]:
    """Languages with their numbers of sources, without countries and scripts, the most frequent first."""
    counts: Counter[str] = Counter()
    for code, count in counted:
        if code:
            counts[base_of(code)] += count
    return tuple(LanguageChoice(code, language_name(code), count) for code, count in counts.most_common())


def in_languages(codes: Sequence[str]) -> Q:
    """Sources in any of the languages; all without languages."""
    found = Q()
    for code in map(base_of, codes):
        found |= Q(language__iexact=code) | Q(language__istartswith=f"{code}-") | Q(language__istartswith=f"{code}_")
    return found


# --- first pages ------------------------------------------------------------------------------------------------------
def welcome_page(accepted: Sequence[str], *, chosen: Sequence[str] = ()) -> Context:
    """Interests to choose from, with the `accepted` languages preselected. One query."""
    offers = offered()
    known = language_choices((offer.language, 1) for offer in offers)
    codes = {language.code for language in known}
    wanted = tuple(dict.fromkeys(code for code in map(base_of, accepted) if code in codes))
    by_category: defaultdict[str, list[Any]] = defaultdict(list)
    for offer in _in(offers, wanted) or offers:
        by_category[offer.category].append(offer)
    interests = (
        {"name": name, "samples": [offer.title or offer.url for offer in found[:SAMPLES]], "count": len(found)}
        for name, found in sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0]))
    )
    categories = tuple(dict.fromkeys(offer.category for offer in offers))
    return {
        "interests": tuple(interests),
        "languages": known,
        "chosen_languages": wanted,
        "categories": categories,  # in any language
        "chosen": tuple(chosen),  # categories
    }


def offered() -> list[Any]:
    """The sources of the catalogue with a category as named rows, the most followed first. One query."""
    found = sources.listed().exclude(category="").exclude(state="paused").annotate(followers=Count("follows"))
    ordered = found.order_by("-followers", "title", "pk")
    return list(ordered.values_list("pk", "title", "url", "category", "language", named=True))


def of_interest(categories: Collection[str], languages: Collection[str]) -> list[int]:
    """The sources to follow for interests and languages, if any. One query."""
    chosen: defaultdict[str, list[int]] = defaultdict(list)
    for offer in _in(offered(), languages):
        if offer.category in categories and len(chosen[offer.category]) < FOLLOWED_AT_ONCE:
            chosen[offer.category].append(offer.pk)
    return [source_id for found in chosen.values() for source_id in found]


def _in(offers: Sequence[Any], languages: Collection[str]) -> list[Any]:
    return [offer for offer in offers if not languages or base_of(offer.language) in languages]


def filling_page(user: User, now: datetime) -> Context:
    """The newest postings of what the user follows. At most seven queries."""
    followed = following.followed_sources(user)
    waiting = sum(
        not each.was_checked and not each.is_gone and each.followed_at > now - WAITED_FOR for each in followed
    )
    newest = listed(
        user, Scope("all"), unread_only=False, oldest_first=False, start=None, limit=FIRST_POSTINGS, fold=True
    )
    return {
        "followed": len(followed),
        "waiting": waiting,  # sources before their first check
        "checked": len(followed) - waiting,
        "rows": rows(user, newest),
        "recommended": () if waiting else recommended_entries(user, now),
    }


# --- health -----------------------------------------------------------------------------------------------------------
class _Followed:
    """A user's followed sources for a Paginator: one query for the count, one for a page."""

    def __init__(self, user: User) -> None:
        self._user = user

    def count(self) -> int:
        return following.follows_of(self._user).count()

    def __getitem__(self, part: slice) -> list[Health]:
        return notices.health_of_followed(self._user, start=part.start, limit=part.stop - part.start)


def health_page(user: User, number: str) -> Context:
    """Four queries."""
    place: Page[Health] = Paginator(_Followed(user), SOURCES_SHOWN).get_page(number)  # type: ignore[arg-type]
    shown = tuple(notices.open_notices(user)[: notices.MAX_SHOWN])
    return {
        "notices": shown,
        "latest_notice": max((notice.pk for notice in shown), default=0),
        "rows": [{"health": each, "reason": reason(each)} for each in place.object_list],  # failing ones first
        "place": place,
        "by_mail": notices.wants_mail(user),
    }


def reason(health: Health) -> str:
    """Why a source fails, in plain words."""
    if health.state == "gone":
        return _("The publisher has ended this feed.")
    if health.state == "paused":
        return _("Paused by an administrator.")
    return why(health.outcome, health.status, health.message) if health.failures else ""


def why(outcome: str, status: int, message: str) -> str:
    """The meaning of the latest failed retrieval."""
    if outcome == "not_a_feed":
        return _("There is no readable feed at this address.")
    if outcome == "refused":
        return _("The site does not allow automatic reading (robots.txt), or its address is not allowed.")
    if status in (401, 403):
        return _("The site denies access ({status}).").format(status=status)
    if status in (404, 410):
        return _("There is nothing at this address any more ({status}).").format(status=status)
    if status == 429:
        return _("The site asks for fewer requests ({status}).").format(status=status)
    if status >= 500:
        return _("The site has a server error ({status}).").format(status=status)
    if status:
        return _("The site answered with status {status}.").format(status=status)
    return message or _("The site did not respond.")
