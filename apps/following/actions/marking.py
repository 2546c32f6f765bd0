"""Marks whole lists read, and undoes that."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import transaction
from django.db.models import F

from apps.accounts.models import User
from apps.database.statements import execute, query
from apps.following import queries
from apps.following.models import Follow, Mark, MarkedAll
from apps.following.queries import Scope
from apps.following.queries.copies import READ_BY_COPY, UNREAD_COPIES
from apps.following.queries.states import ARRIVED, NEW
from apps.postings.models import Posting

UNDO_FOR = timedelta(days=1)
DAYS = 7  # in which all users' marks are compacted
WORTHWHILE = 20  # postings of a source read one by one until its `read_through` moves
_AT_ANY_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Marked:
    """The result of marking a list read."""

    count: int  # articles that became read
    undo: int | None  # id for `undo_mark_all`; None if nothing became read


@transaction.atomic
def mark_all_read(
    user: User, scope: Scope, *, shown_at: datetime, now: datetime, before: datetime | None = None
) -> Marked:
    """Mark the unread postings of a list read that had been retrieved when the user's page was rendered.

    Later arrivals stay unread, even with older dates. `before` limits it to postings published earlier.
    """
    _lock(user)
    marked = MarkedAll.objects.create(user=user, marked_at=now)
    limits = {"shown_at": shown_at, "before": before or _AT_ANY_TIME}
    # Locked, so that a merge of sources cannot change `read_through` in between.
    follows = list(
        queries.follows_in(user, scope).order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True)
    )
    count = _move(marked, follows, limits) if follows else _mark_each(marked, scope, limits)
    if not count:
        marked.delete()
        return Marked(0, None)
    return Marked(count, marked.pk)


def _lock(user: User) -> None:
    """One at a time per user, so that the unread postings are known."""
    User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)


# New postings are marked by moving `read_through`, if that takes fewer marks: each posting below it that stays unread
# gets one. The statement sees one snapshot; concurrent marks count as made afterwards, and are overwritten only as the
# user requested.
_MOVE = f"""
WITH unread AS MATERIALIZED (
    SELECT posting.id, follow.id AS follow_id, mark.read IS NULL AS by_number,
        posting.retrieved_at <= %(shown_at)s AND posting.published_at < %(before)s AS is_meant,
        posting.first_copy, {READ_BY_COPY} AS is_read
    FROM following_follow follow {ARRIVED}
    LEFT JOIN following_mark mark ON mark.user_id = %(user)s AND mark.posting_id = posting.id
    WHERE follow.id = ANY(%(follows)s) AND {NEW} AND mark.read IS NOT TRUE
    UNION ALL
    SELECT posting.id, follow.id, false,
        posting.retrieved_at <= %(shown_at)s AND posting.published_at < %(before)s,
        posting.first_copy, {READ_BY_COPY}
    FROM following_mark mark
    JOIN postings_posting posting ON posting.id = mark.posting_id
    JOIN following_follow follow ON follow.source_id = posting.source_id AND follow.id = ANY(%(follows)s)
    WHERE mark.user_id = %(user)s AND NOT mark.read AND NOT ({NEW})
), reach AS MATERIALIZED (
    SELECT follow_id, max(id) AS through, count(*) AS amount FROM unread WHERE is_meant AND by_number
    GROUP BY follow_id
), kept AS MATERIALIZED (
    SELECT id, follow_id FROM unread JOIN reach USING (follow_id)
    WHERE by_number AND NOT is_meant AND id <= through
), moved AS MATERIALIZED (
    SELECT follow_id, read_through AS moved_from, through AS moved_to
    FROM reach JOIN following_follow follow ON follow.id = follow_id
    LEFT JOIN (SELECT follow_id, count(*) AS marks FROM kept GROUP BY follow_id) cost USING (follow_id)
    WHERE amount > coalesce(marks, 0)
), numbers AS (
    UPDATE following_follow follow SET read_through = moved_to FROM moved WHERE follow.id = follow_id
), marks AS (
    INSERT INTO following_mark (user_id, posting_id, read, changed_at, marked_all)
    SELECT %(user)s, id, is_meant, %(now)s, %(marked)s FROM (
        SELECT id, true AS is_meant FROM unread
        WHERE is_meant AND NOT (by_number AND follow_id IN (SELECT follow_id FROM moved))
        UNION ALL
        SELECT id, false FROM kept WHERE follow_id IN (SELECT follow_id FROM moved)
    ) changed ORDER BY id
    ON CONFLICT (user_id, posting_id) DO UPDATE SET
        read = excluded.read OR coalesce(following_mark.read, false),
        changed_at = excluded.changed_at,
        marked_all = CASE
            WHEN following_mark.read OR NOT excluded.read AND following_mark.read IS NOT NULL
            THEN following_mark.marked_all ELSE excluded.marked_all END
), undo AS (
    UPDATE following_markedall SET follows = whole.follows, moved_from = whole.moved_from, moved_to = whole.moved_to
    FROM (
        SELECT array_agg(follow_id) AS follows, array_agg(moved_from) AS moved_from, array_agg(moved_to) AS moved_to
        FROM moved
    ) whole
    WHERE id = %(marked)s AND whole.follows IS NOT NULL
)
SELECT count(*) FILTER (WHERE first_copy IS NULL)
    + count(DISTINCT first_copy) FILTER (WHERE first_copy IS NOT NULL AND NOT is_read)
FROM unread WHERE is_meant
"""


def _move(marked: MarkedAll, follows: list[int], limits: dict[str, datetime]) -> int:
    names: dict[str, Any] = {"user": marked.user_id, "follows": follows, "marked": marked.pk, "now": marked.marked_at}
    [(count,)] = query(_MOVE, names | limits)
    return int(count)


# With unread copies in followed feeds. In the order of ids, so that two concurrent statements wait instead of
# deadlocking.
_MARK_EACH = """
WITH unread AS MATERIALIZED (
    SELECT id, first_copy FROM postings_posting WHERE id IN ({unread})
), marks AS (
    INSERT INTO following_mark (user_id, posting_id, read, changed_at, marked_all)
    SELECT %s, meant.id, true, %s, %s FROM (SELECT id FROM unread UNION ({copies})) AS meant ORDER BY meant.id
    ON CONFLICT (user_id, posting_id) DO UPDATE SET read = true, changed_at = excluded.changed_at,
        marked_all = CASE WHEN following_mark.read THEN following_mark.marked_all ELSE excluded.marked_all END
)
SELECT count(*) FILTER (WHERE first_copy IS NULL) + count(DISTINCT first_copy) AS count FROM unread
"""


def _mark_each(marked: MarkedAll, scope: Scope, limits: dict[str, datetime]) -> int:
    """Marks each posting of a list that is not made of follows: starred, a tag, or a source not followed."""
    shown = queries.unread(queries.postings_in(marked.user, scope), marked.user).filter(
        retrieved_at__lte=limits["shown_at"], published_at__lt=limits["before"]
    )
    try:
        sql, parameters = shown.order_by("id").values("id").query.sql_with_params()
    except EmptyResultSet:  # a foreign folder
        return 0
    statement = _MARK_EACH.format(unread=sql, copies=UNREAD_COPIES.format(user=marked.user_id))
    [(count,)] = query(statement, [*parameters, marked.user_id, marked.marked_at, marked.pk])
    return int(count)


# --- undo -------------------------------------------------------------------------------------------------------------
_MOVE_BACK = """
WITH moved AS MATERIALIZED (
    SELECT follow.id, moved.moved_from, moved.moved_to FROM following_markedall marked
    CROSS JOIN LATERAL unnest(marked.follows, marked.moved_from, marked.moved_to)
        moved (follow_id, moved_from, moved_to)
    JOIN following_follow follow ON follow.id = moved.follow_id AND follow.user_id = marked.user_id
    WHERE marked.id = %(marked)s
), numbers AS (
    UPDATE following_follow follow SET read_through = moved_from FROM moved
    WHERE moved.id = follow.id AND read_through = moved_to
)
SELECT posting.id, posting.first_copy, follow.read_through > moved_to AS is_below
FROM moved JOIN following_follow follow USING (id)
CROSS JOIN LATERAL (
    SELECT id, first_copy FROM postings_posting posting
    WHERE source_id = follow.source_id AND id > moved_from AND id <= moved_to AND published_at >= follow.unread_from
    OFFSET 0
) posting
LEFT JOIN following_mark mark ON mark.user_id = %(user)s AND mark.posting_id = posting.id
WHERE mark.read IS NULL
"""
# Where `read_through` has moved on, each posting below it is marked unread.
_MARK_UNREAD = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT %(user)s, id, false, %(now)s FROM unnest(%(postings)s::bigint[]) posting (id) ORDER BY id
ON CONFLICT (user_id, posting_id) DO UPDATE SET
    read = coalesce(following_mark.read, false), changed_at = excluded.changed_at
"""
# A mark is cleared where the posting is unread without it.
_CLEAR_MARKS = f"""
WITH marked AS MATERIALIZED (
    SELECT mark.id, posting.first_copy, mark.read AS was_read, follow.id IS NOT NULL AND {NEW} AS is_new
    FROM following_mark mark
    JOIN postings_posting posting ON posting.id = mark.posting_id
    LEFT JOIN following_follow follow ON follow.source_id = posting.source_id AND follow.user_id = mark.user_id
    WHERE mark.user_id = %(user)s AND mark.marked_all = %(marked)s
    ORDER BY mark.posting_id FOR NO KEY UPDATE OF mark
), cleared AS (
    UPDATE following_mark mark SET
        read = CASE WHEN is_new THEN NULL ELSE false END, marked_all = NULL, changed_at = %(now)s
    FROM marked WHERE mark.id = marked.id
)
SELECT count(*) FILTER (WHERE first_copy IS NULL) AS single,
    array_agg(first_copy) FILTER (WHERE first_copy IS NOT NULL) AS copied
FROM marked WHERE was_read
"""


@transaction.atomic
def undo_mark_all(user: User, undo_id: int, *, now: datetime) -> int:
    """Undo marking a list read; returns the number of articles that are unread again.

    Later marks of the user stay. It works once, within a day.
    """
    _lock(user)
    marked = MarkedAll.objects.filter(pk=undo_id, user=user, marked_at__gt=now - UNDO_FOR).first()
    if marked is None:
        return 0
    list(Follow.objects.filter(pk__in=marked.follows).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    names: dict[str, Any] = {"user": user.pk, "marked": marked.pk, "now": now}
    turned = query(_MOVE_BACK, names)
    if below := [row.id for row in turned if row.is_below]:
        execute(_MARK_UNREAD, names | {"postings": below})
    [cleared] = query(_CLEAR_MARKS, names)
    marked.delete()
    articles = {row.first_copy for row in turned if row.first_copy is not None}.union(cleared.copied or ())
    copies = queries.unread(Posting.objects.filter(first_copy__in=articles), user).values_list("first_copy", flat=True)
    return sum(row.first_copy is None for row in turned) + int(cleared.single) + len(set(copies))


def forget_undo(*, now: datetime) -> int:
    """Delete what has been kept for expired undos; returns the number."""
    return MarkedAll.objects.filter(marked_at__lte=now - UNDO_FOR).delete()[0]


# --- readers of single postings ---------------------------------------------------------------------------------------
# `read_through` moves up to the last read posting if that saves marks; unread postings below it get one each.
_ADVANCE = f"""
WITH new AS MATERIALIZED (
    SELECT follow.id AS follow_id, posting.id, mark.read
    FROM following_follow follow {ARRIVED}
    LEFT JOIN following_mark mark ON mark.user_id = follow.user_id AND mark.posting_id = posting.id
    WHERE follow.user_id = %(user)s AND {NEW}
), reach AS MATERIALIZED (
    SELECT follow_id, max(id) AS through, count(*) AS amount FROM new WHERE read GROUP BY follow_id
    HAVING count(*) >= %(worthwhile)s
), kept AS MATERIALIZED (
    SELECT id, follow_id FROM new JOIN reach USING (follow_id) WHERE read IS NULL AND id <= through
), moved AS MATERIALIZED (
    SELECT follow_id, through FROM reach
    LEFT JOIN (SELECT follow_id, count(*) AS marks FROM kept GROUP BY follow_id) cost USING (follow_id)
    WHERE amount > coalesce(marks, 0)
), marks AS (
    INSERT INTO following_mark (user_id, posting_id, read, changed_at)
    SELECT %(user)s, id, false, %(now)s FROM kept JOIN moved USING (follow_id) ORDER BY id
    ON CONFLICT (user_id, posting_id) DO UPDATE SET read = coalesce(following_mark.read, false)
)
UPDATE following_follow follow SET read_through = through FROM moved WHERE follow.id = follow_id
"""


@transaction.atomic
def advance(user: User, *, now: datetime) -> int:
    """Move `read_through` where it replaces marks; nothing becomes read or unread. Returns the number of moves.

    Without it, counting unread postings would scan everything that a user ever read one by one.
    """
    _lock(user)
    list(queries.follows_of(user).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    return execute(_ADVANCE, {"user": user.pk, "worthwhile": WORTHWHILE, "now": now})


def advance_all(*, now: datetime) -> int:
    """The same for the users whose day it is, each in its own transaction: all within a week."""
    todays = User.objects.annotate(day=F("pk") % DAYS).filter(day=now.toordinal() % DAYS)
    return sum(advance(user, now=now) for user in todays.only("pk").order_by("pk").iterator())


# --- end of a follow --------------------------------------------------------------------------------------------------
# Postings read with a list, which would be unread again if the user followed the source again.
_KEEP_READ = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT follow.user_id, posting.id, true, now()
FROM following_follow follow JOIN postings_posting posting ON posting.source_id = follow.source_id
    AND posting.id <= follow.read_through AND posting.published_at >= follow.unread_from
    AND posting.published_at >= coalesce((
        SELECT published_at FROM postings_posting newest WHERE newest.source_id = follow.source_id
        ORDER BY published_at DESC, id DESC OFFSET %(newest)s - 1 LIMIT 1), '-infinity')
WHERE follow.user_id = %(user)s AND follow.source_id = %(source)s ORDER BY posting.id
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = coalesce(following_mark.read, true)
"""


# Copies in other feeds that counted as read because of this one.
_KEEP_COPIES_READ = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT DISTINCT follow.user_id, twin.id, true, now()
FROM following_follow follow
JOIN postings_posting posting ON posting.source_id = follow.source_id AND posting.first_copy IS NOT NULL
LEFT JOIN following_mark mark ON mark.user_id = follow.user_id AND mark.posting_id = posting.id
JOIN postings_posting twin ON twin.first_copy = posting.first_copy AND twin.source_id <> posting.source_id
JOIN following_follow other ON other.user_id = follow.user_id AND other.source_id = twin.source_id
WHERE follow.user_id = %(user)s AND follow.source_id = %(source)s
    AND coalesce(mark.read, posting.id <= follow.read_through AND posting.published_at >= follow.unread_from)
ORDER BY twin.id
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = true
"""


def settle(user: User, source_id: int, *, newest: int) -> None:
    """Mark what is read before a source's follow is deleted, in the caller's transaction: the newest, and copies.

    Nothing of the source stays unread, and lists marked before cannot be undone.
    """
    _lock(user)
    execute(_KEEP_READ, {"user": user.pk, "source": source_id, "newest": newest})
    execute(_KEEP_COPIES_READ, {"user": user.pk, "source": source_id})
    Mark.objects.filter(user=user, posting__source=source_id, read=False).update(read=None, marked_all=None)
    MarkedAll.objects.filter(user=user).delete()
