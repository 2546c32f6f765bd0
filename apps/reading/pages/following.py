"""The catalogue of sources and its languages, the first pages of new users, and the health of followed sources."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.db.models import Case, CharField, Count, F, Q, QuerySet, Value, When
from django.db.models.functions import Length, Lower
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.feed_health import queries as notices
from apps.feed_health.queries import Health
from apps.following import queries as following
from apps.following.queries import Scope
from apps.following.queries.listing import positions
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.reading.algorithms.kept_pictures import with_one_address_each
from apps.recommendations import queries as recommendations
from apps.recommendations.queries import Recommendation, risen
from apps.sources import queries as sources
from apps.sources.models import Source
from apps.trending.queries.names import language_name
from apps.web.algorithms.pictures import is_on_web, replaced, with_proxied_pictures, with_proxied_recordings
from apps.web.pages import Context
from apps.web.pages.rows import (
    PostingRow,
    arranged,
    choice_of,
    icon_address,
    proxied,
    proxied_recording,
    rows,
    rows_by_id,
)

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
        "categories": [{"name": name, "count": count} for name, count in _counted(listed, "category") if name],
        "languages": language_choices(_counted(listed, "language")),
        "words": words,
        "category": category,
        "language": base_of(language),
        "sort": sort,
    }


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
    return [_entry(each, weekly) | {"followed": each.pk in followed, "is_rising": each.pk in rising} for each in shown]


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


def first_articles_page(user: User, now: datetime) -> Context:
    """The newest postings of what the user follows. At most seven queries."""
    followed = following.followed_sources(user)
    waiting = sum(not (each.was_checked or each.is_gone) and each.followed_at > now - WAITED_FOR for each in followed)
    newest = [place.id for place in positions(user, Scope("all"), limit=FIRST_POSTINGS, fold=True)]
    return {
        "followed": len(followed),
        "waiting": waiting,  # sources before their first check
        "checked": len(followed) - waiting,
        "rows": rows(user, newest),
        "recommended": () if waiting else recommended_entries(user, now),
    }


# --- health -----------------------------------------------------------------------------------------------------------
def health_page(user: User, number: str) -> Context:
    """Four queries."""
    place = Paginator(range(following.follows_of(user).count()), SOURCES_SHOWN).get_page(number)
    start = (place.number - 1) * SOURCES_SHOWN
    followed = notices.health_of_followed(user, start=start, limit=SOURCES_SHOWN)
    shown = tuple(notices.open_notices(user)[: notices.MAX_SHOWN])
    return {
        "notices": shown,
        "latest_notice": max((notice.pk for notice in shown), default=0),
        "rows": [{"health": each, "reason": reason(each)} for each in followed],  # failing ones first
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
        return _("The address no longer exists ({status}).").format(status=status)
    if status == 429:
        return _("The site asks for fewer requests ({status}).").format(status=status)
    if status >= 500:
        return _("The site has a server error ({status}).").format(status=status)
    if status:
        return _("The site answered with status {status}.").format(status=status)
    return message or _("The site did not respond.")


# --- articles for offline reading -------------------------------------------------------------------------------------
LENGTHS = (0, 50, 100, 200)  # postings to store
AT_ONCE = 25  # postings per response
MAX_HTML_LENGTH = 300_000  # characters; of longer texts only the excerpt is stored
MAX_KEPT_BYTES = 50 * 2**20  # in a browser, text and pictures together


def kept_states(user: User, length: int) -> list[Context]:
    """The newest postings of the user's river: unread ones first, then read ones. Two queries."""
    river = following.postings_in(user, Scope("all"))
    unread = _states(following.unread(river, user), length)
    if len(unread) < length:
        taken = {state["id"] for state in unread}
        newest = _states(following.with_state(river, user), length)
        unread += [state for state in newest if state["id"] not in taken][: length - len(unread)]
    return unread


def _states(found: QuerySet[Posting], length: int) -> list[Context]:
    newest: Iterable[Any] = postings.newest(found).only("text_hash")[:length]  # with `unread` and `starred`
    return [
        {"id": one.pk, "version": _version(one.text_hash), "unread": one.unread, "starred": one.starred}
        for one in newest
    ]


def _version(text_hash: bytes | memoryview) -> str:
    """It changes with the text."""
    return bytes(text_hash).hex()[:16]


def kept_postings(user: User, posting_ids: Collection[int], *, pictures: bool) -> list[Context]:
    """Those of the postings that the user may read, unordered. Two queries."""
    mine = following.readable_by(user).filter(pk__in=posting_ids)
    shown = rows_by_id(user, posting_ids)
    html = Case(
        When(length__lte=MAX_HTML_LENGTH, then=F("html")), default=Value(None), output_field=CharField(null=True)
    )
    columns = ("pk", "text_hash", "author", "kept", "image_url")
    return [
        {"version": _version(row.text_hash), "author": row.author}
        | _content(user, shown[row.pk], row.kept, row.image_url, pictures=pictures)
        for row in mine.annotate(length=Length("html"), kept=html).values_list(*columns, named=True)
        if row.pk in shown
    ]


def _content(user: User, row: PostingRow, html: str | None, image_url: str, *, pictures: bool) -> Context:
    """Pictures are proxied regardless of the setting, since other sites' cannot be stored."""
    shows = pictures and choice_of(user) != User.Images.BLOCKED
    small = proxied(image_url) if shows and is_on_web(image_url) else ""
    addresses: list[str] = []
    if html is not None:
        html = arranged(html, pictured=shows)
        html, addresses = with_one_address_each(with_proxied_pictures(html, proxied) if shows else replaced(html))
        html = with_proxied_recordings(html, proxied_recording)
    ours = dict.fromkeys(address for address in [small, *addresses] if address.startswith("/"))
    return {"row": row._replace(image_url=small), "html": html, "pictures": tuple(ours)}  # without html: too long
