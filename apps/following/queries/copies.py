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


# The user's follow and mark of a copy, `twin`. OFFSET 0 keeps Postgres from reading all follows for each copy.
_OWN = """(
    SELECT id, title, muted, read_through, unread_from FROM following_follow
    WHERE user_id = {user} AND source_id = twin.source_id OFFSET 0
) own"""
_SEEN = """LEFT JOIN LATERAL (
    SELECT read, starred_at FROM following_mark WHERE user_id = {user} AND posting_id = twin.id OFFSET 0
) seen ON true"""
_WAS_READ = "coalesce(seen.read, twin.id <= own.read_through AND twin.published_at >= own.unread_from)"
_IS_NEW = "coalesce(NOT seen.read, twin.id > own.read_through AND twin.published_at >= own.unread_from)"
_READ_BY_COPY = f"""({{first_copy}} IS NOT NULL AND EXISTS (
    SELECT FROM postings_posting twin CROSS JOIN LATERAL {_OWN} {_SEEN}
    WHERE twin.first_copy = {{first_copy}} {{others}} AND {_WAS_READ}))"""

# For raw statements, of `posting` and %(user)s: whether a copy in a followed feed was read, by a mark or with a list.
_OTHERS = "AND twin.id <> posting.id"  # an unread posting was not read itself
READ_BY_COPY = _READ_BY_COPY.format(first_copy="posting.first_copy", others=_OTHERS, user="%(user)s")

# Whether a posting represents its article in a list made of follows in `mine`; of unread ones, among those unread,
# and if no copy was read. One pass over the copies, since a list may have to read those of all that is unread.
_REPRESENTS = f"""(posting.first_copy IS NULL OR NOT EXISTS (
    SELECT FROM postings_posting twin CROSS JOIN LATERAL {_OWN} {{mark}}
    WHERE twin.first_copy = posting.first_copy {_OTHERS} AND {{hides}}))"""
_EARLIER = "twin.id < posting.id AND own.id IN (SELECT id FROM mine)"
REPRESENTS = _REPRESENTS.format(mark="", hides=_EARLIER, user="%(user)s")
REPRESENTS_UNREAD = _REPRESENTS.format(
    mark=_SEEN.format(user="%(user)s"), hides=f"({_WAS_READ} OR {_EARLIER} AND {_IS_NEW})", user="%(user)s"
)

# The other feeds of the article of `posting`, in the order of arrival: those that the user follows and has not muted,
# or if `follow` is missing, also listed ones. An article is unread if some copy is and none was read.
# A copy that is marked unread is so in any feed, as in `with_state`.
COPIES = f"""CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(source_id || ' ' || title ORDER BY id) FILTER (WHERE is_shown), '{{}}') AS also,
        coalesce(bool_or(starred), false) AS starred,
        coalesce(bool_or(is_new) AND NOT bool_or(was_read), false) AS unread
    FROM (
        SELECT min(twin.id) AS id, twin.source_id,
            min(coalesce(nullif(own.title, ''), nullif(feed.title, ''), feed.url)) AS title,
            bool_or(seen.starred_at IS NOT NULL) AS starred,
            bool_or(coalesce({_IS_NEW}, false)) AS is_new,
            bool_or(own.id IS NOT NULL AND coalesce({_WAS_READ}, false)) AS was_read,
            twin.source_id <> posting.source_id
                AND bool_or(NOT own.muted OR own.id IS NULL AND follow.id IS NULL AND feed.listed) AS is_shown
        FROM postings_posting twin JOIN sources_source feed ON feed.id = twin.source_id
        LEFT JOIN LATERAL {_OWN.format(user="%(user)s")} ON true {_SEEN.format(user="%(user)s")}
        WHERE twin.first_copy = posting.first_copy GROUP BY twin.source_id
    ) twin
) copies"""

# The other copies that a mark on %(ids)s concerns: of an article that becomes read all in followed feeds, of one that
# becomes unread those that were read.
MARKED_COPIES = f"""
SELECT twin.id FROM postings_posting twin CROSS JOIN LATERAL {_OWN} {_SEEN}
WHERE twin.first_copy IN (SELECT first_copy FROM postings_posting WHERE id = ANY(%(ids)s::bigint[]))
    AND (%(read)s OR {_WAS_READ})
""".format(user="%(user)s")

# The unread copies, in followed feeds, of the articles of `unread`.
UNREAD_COPIES = f"""
SELECT twin.id FROM postings_posting twin CROSS JOIN LATERAL {_OWN} {_SEEN}
WHERE twin.first_copy IN (SELECT first_copy FROM unread) AND {_IS_NEW}
"""

# Whether a rule has hidden `posting` or a copy of it, by the postings in `hidden`.
HIDDEN = """(posting.id IN (SELECT posting_id FROM hidden) OR posting.first_copy IS NOT NULL AND EXISTS (
    SELECT FROM postings_posting twin WHERE twin.first_copy = posting.first_copy
        AND twin.id IN (SELECT posting_id FROM hidden)))"""


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
    template = _READ_BY_COPY.format(first_copy="%(expressions)s", others="", user=int(user.pk))
    return Func(F("first_copy"), template=template, output_field=BooleanField())
