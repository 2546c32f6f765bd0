"""The first pages of new users: interests, and the first news."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.queries import Scope
from apps.following.queries.listing import listed
from apps.reading.pages.catalogue import recommended_entries
from apps.reading.pages.languages import base_of, language_choices
from apps.sources import queries as sources
from apps.web.pages import Context
from apps.web.pages.rows import rows

SAMPLES = 4  # named sources per interest
FOLLOWED_AT_ONCE = 6  # most followed sources per interest
LENGTH = 40
WAITED_FOR = timedelta(minutes=3)  # for the first check of a newly followed source


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
    newest = listed(user, Scope("all"), unread_only=False, oldest_first=False, start=None, limit=LENGTH, fold=True)
    return {
        "followed": len(followed),
        "waiting": waiting,  # sources before their first check
        "checked": len(followed) - waiting,
        "rows": rows(user, newest),
        "recommended": () if waiting else recommended_entries(user, now),
    }
