"""The first pages of somebody who is new here: what they like, and their news while it comes."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.queries import Scope
from apps.following.queries.listing import listed
from apps.reading.pages.catalogue import CatalogueEntry, recommended_entries
from apps.reading.pages.languages import LanguageChoice, base_of, language_choices
from apps.sources import queries as sources
from apps.web.pages.rows import PostingRow, rows

SAMPLES = 4  # sources that are named of an interest
FOLLOWED_AT_ONCE = 6  # sources of each interest, those that most people follow
LENGTH = 40
WAITED_FOR = timedelta(minutes=3)  # a source that is followed since then and was never asked is on its way


@dataclass(frozen=True, slots=True)
class Interest:
    name: str  # of a category
    samples: tuple[str, ...]  # titles of sources
    count: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A source of the catalogue, as far as interests go."""

    source_id: int
    title: str
    category: str
    language: str


@dataclass(frozen=True, slots=True)
class WelcomePage:
    interests: tuple[Interest, ...]
    languages: tuple[LanguageChoice, ...]
    chosen_languages: tuple[str, ...]
    categories: tuple[str, ...]  # that there are in any language
    chosen: tuple[str, ...]  # of them


def welcome_page(accepted: Sequence[str], *, chosen: Sequence[str] = ()) -> WelcomePage:
    """What somebody can choose from, the languages that they `accept` beforehand. One query."""
    offers = offered()
    known = language_choices((offer.language, 1) for offer in offers)
    codes = {language.code for language in known}
    wanted = tuple(dict.fromkeys(code for code in map(base_of, accepted) if code in codes))
    by_category: defaultdict[str, list[Offer]] = defaultdict(list)
    for offer in _in(offers, wanted) or offers:
        by_category[offer.category].append(offer)
    interests = (
        Interest(name, tuple(offer.title for offer in found[:SAMPLES]), len(found))
        for name, found in sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0]))
    )
    categories = tuple(dict.fromkeys(offer.category for offer in offers))
    return WelcomePage(tuple(interests), known, wanted, categories, tuple(chosen))


def offered() -> list[Offer]:
    """The sources of the catalogue that have a category, those first that most people follow. One query."""
    listed = sources.listed().exclude(category="").exclude(state="paused")
    rows = listed.annotate(followers=Count("follows")).order_by("-followers", "title", "pk")
    return [
        Offer(source.pk, source.title or source.url, source.category, source.language)
        for source in rows.only("title", "url", "category", "language")
    ]


def of_interest(categories: Collection[str], languages: Collection[str]) -> list[int]:
    """The sources that somebody follows who chooses interests, and languages if any. One query."""
    chosen: defaultdict[str, list[int]] = defaultdict(list)
    for offer in _in(offered(), languages):
        if offer.category in categories and len(chosen[offer.category]) < FOLLOWED_AT_ONCE:
            chosen[offer.category].append(offer.source_id)
    return [source_id for found in chosen.values() for source_id in found]


def _in(offers: Sequence[Offer], languages: Collection[str]) -> list[Offer]:
    return [offer for offer in offers if not languages or base_of(offer.language) in languages]


@dataclass(frozen=True, slots=True)
class FillingPage:
    followed: int  # sources
    waiting: int  # of them, that are being asked for the first time
    rows: tuple[PostingRow, ...]
    recommended: tuple[CatalogueEntry, ...]  # once nothing is waited for
    now: datetime

    @property
    def asked(self) -> int:
        return self.followed - self.waiting


def filling_page(user: User, now: datetime) -> FillingPage:
    """The newest of what somebody follows, while it comes. At most seven queries."""
    followed = following.followed_sources(user)
    waiting = sum(not each.was_asked and not each.is_gone and each.followed_at > now - WAITED_FOR for each in followed)
    newest = listed(user, Scope("all"), unread_only=False, oldest_first=False, start=None, limit=LENGTH)
    shown = rows(user, newest)
    recommended = () if waiting else recommended_entries(user, now)
    return FillingPage(len(followed), waiting, tuple(shown), recommended, now)
