"""The languages of the feeds that users follow."""

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache

from apps.accounts.models import User
from apps.following.models import Follow
from apps.postings.algorithms.words.languages import base_code

CACHE_SECONDS = 600


def followed_languages(user: User | AnonymousUser) -> list[str]:
    """The codes of the languages of all feeds that a user follows, up to ten minutes old; [] for visitors."""
    if not user.is_authenticated:
        return []
    key = f"following.languages.{user.pk}"
    known: list[str] | None = cache.get(key)
    if known is None:
        declared = Follow.objects.filter(user=user).values_list("source__language", flat=True).distinct()
        known = sorted({base_code(code) for code in declared if code})
        cache.set(key, known, CACHE_SECONDS)
    return known
