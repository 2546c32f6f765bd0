"""Sources that users may read, their names, and the languages of followed ones."""

from collections.abc import Collection

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_rows
from apps.following.models import Follow
from apps.postings.algorithms.words.languages import base_code
from apps.sources.models import Source

CACHE_SECONDS = 600

# `visible_sources` as a raw statement.
_VISIBLE = """
SELECT source.id, coalesce(nullif(follow.title, ''), source.title) AS title, source.url, source.listed
FROM sources_source source LEFT JOIN following_follow follow ON source_id = source.id AND follow.user_id = %(user)s
WHERE site_id IS NULL AND (source.listed OR follow.id IS NOT NULL)
"""


def visible_source_ids(user: User | AnonymousUser) -> frozenset[int]:
    return frozenset(id for (id,) in fetch(f"SELECT id FROM ({_VISIBLE}) visible", {"user": user.pk or 0}))


# Not by the ORM, which takes longer to prepare thousands of parameters than a search takes.
_STARRED_ELSEWHERE = """
SELECT posting_id FROM following_mark mark JOIN postings_posting posting ON posting.id = posting_id
WHERE mark.user_id = %s AND starred_at IS NOT NULL AND posting.source_id <> ALL(%s)
"""


def starred_elsewhere(user: User, source_ids: Collection[int]) -> frozenset[int]:
    """Starred postings of other sources than these."""
    return frozenset(id for (id,) in fetch(_STARRED_ELSEWHERE, [user.pk, list(source_ids)]))


def source_names(user: User | AnonymousUser, ids: Collection[int]) -> dict[int, str]:
    """The names of those of the sources that a user may read, the user's own ones first. One query."""
    rows = fetch_rows(
        f"{_VISIBLE} AND source.id = ANY(%(ids)s)", {"user": user.pk or 0, "ids": list(ids)}, generic=True
    )
    return {row.id: row.title or str(Source(url=row.url, listed=row.listed)) for row in rows}


def followed_languages(user: User | AnonymousUser) -> list[str]:
    """The codes of the languages of all feeds that a user follows, up to ten minutes old; [] for visitors."""
    if not user.is_authenticated:
        return []
    declared = Follow.objects.filter(user=user).values_list("source__language", flat=True).distinct()
    key = f"following.languages.{user.pk}"
    return cache.get_or_set(key, lambda: sorted({base_code(code) for code in declared if code}), CACHE_SECONDS) or []
