"""Copies of one article in several feeds: reading one reads all, and lists show one of them.

The one that came first represents an article in a list, among those copies that are in the list. Copies arriving later
change no list, and neither does reading: pages of a list neither skip nor repeat an article.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet

from apps.accounts.models import User
from apps.postings.models import Posting


class AlsoIn(NamedTuple):
    """Another feed with a copy of an article."""

    source_id: int
    title: str  # the user's own, else the source's


# The user's follow and mark of a copy, `twin`.
_OWN_OF_TWIN = """LEFT JOIN following_follow own ON own.source_id = twin.source_id AND own.user_id = {user}
    LEFT JOIN following_mark seen ON seen.posting_id = twin.id AND seen.user_id = {user}"""
_WAS_READ = "coalesce(seen.read, twin.id <= own.read_through AND twin.published_at >= own.unread_from)"
_READ_BY_COPY = f"""({{first_copy}} IS NOT NULL AND EXISTS (
    SELECT FROM postings_posting twin {_OWN_OF_TWIN} WHERE twin.first_copy = {{first_copy}} AND {_WAS_READ}))"""

# For raw statements, of `posting` and %(user)s: whether some copy was read, by a mark or with a list.
READ_BY_COPY = _READ_BY_COPY.format(first_copy="posting.first_copy", user="%(user)s")

# The copies of the articles of %(ids)s that were read.
READ_COPIES = f"""
SELECT twin.id FROM postings_posting twin {_OWN_OF_TWIN.format(user="%(user)s")}
WHERE twin.first_copy IN (SELECT first_copy FROM postings_posting WHERE id = ANY(%(ids)s)) AND {_WAS_READ}
"""

# Whether a posting represents its article in a list made of follows in `mine`; of unread ones, among those unread.
_REPRESENTS = f"""(posting.first_copy IS NULL OR NOT EXISTS (
    SELECT FROM postings_posting twin {_OWN_OF_TWIN.format(user="%(user)s")}
    WHERE twin.first_copy = posting.first_copy AND twin.id < posting.id
        AND own.id IN (SELECT id FROM mine) {{unread}}))"""
REPRESENTS = _REPRESENTS.format(unread="")
REPRESENTS_UNREAD = _REPRESENTS.format(
    unread="AND coalesce(NOT seen.read, twin.id > own.read_through AND twin.published_at >= own.unread_from)"
)

# The other feeds of the article of `posting`, in the order of arrival: those that the user follows and has not muted,
# or if `follow` is missing, also listed ones.
COPIES = f"""CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(source_id || ' ' || title ORDER BY id) FILTER (WHERE is_shown), '{{}}') AS also,
        coalesce(bool_or(starred), false) AS starred
    FROM (
        SELECT min(twin.id) AS id, twin.source_id,
            min(coalesce(nullif(own.title, ''), nullif(feed.title, ''), feed.url)) AS title,
            bool_or(seen.starred_at IS NOT NULL) AS starred,
            twin.source_id <> posting.source_id
                AND bool_or(NOT own.muted OR own.id IS NULL AND follow.id IS NULL AND feed.listed) AS is_shown
        FROM postings_posting twin JOIN sources_source feed ON feed.id = twin.source_id
        {_OWN_OF_TWIN.format(user="%(user)s")}
        WHERE twin.first_copy = posting.first_copy GROUP BY twin.source_id
    ) twin
) copies"""


def also_in(column: Sequence[Any]) -> tuple[AlsoIn, ...]:
    """From the column of `COPIES`."""
    pairs = (each.split(" ", 1) for each in column)
    return tuple(AlsoIn(int(source_id), title) for source_id, title in pairs)


def folds(user: User | AnonymousUser) -> bool:
    """Whether the user's lists show one row per article."""
    return not (isinstance(user, User) and user.every_copy)


def folded(found: QuerySet[Posting]) -> QuerySet[Posting]:
    """Without postings of which an earlier copy is in the list, too. The list must not be limited to a page yet."""
    earlier = found.filter(first_copy=OuterRef("first_copy"), pk__lt=OuterRef("pk"))
    return found.filter(Q(first_copy__isnull=True) | ~Exists(earlier))


def read_by_copy(user: User) -> Func:
    """`READ_BY_COPY` for querysets of postings."""
    template = _READ_BY_COPY.format(first_copy="%(expressions)s", user=int(user.pk))
    return Func(F("first_copy"), template=template, output_field=BooleanField())
