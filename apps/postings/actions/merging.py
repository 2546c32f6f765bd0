"""Move the postings of a source to another one."""

from collections.abc import Sequence

from django.db import connection, transaction

from apps.postings.models import Posting

_EARLIEST_ARRIVAL = """
UPDATE postings_posting kept SET retrieved_at = least(kept.retrieved_at, merged.retrieved_at)
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id), postings_posting merged
WHERE merged.id = pair.merged_id AND kept.id = pair.kept_id
"""
_MOVE_EDITIONS = """
UPDATE postings_edition edition SET posting_id = pair.kept_id
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id) WHERE edition.posting_id = pair.merged_id
"""
# Many publishers number their items from 1: postings that share an identity by chance get a new one.
_MAKE_UNIQUE = """
UPDATE postings_posting moved SET identity = decode(md5(moved.identity || int8send(moved.source_id)), 'hex')
FROM postings_posting other
WHERE moved.source_id = %s AND other.source_id = %s AND other.identity = moved.identity
"""


@transaction.atomic
def move_postings(from_id: int, to_id: int, *, same: Sequence[tuple[int, int]]) -> int:
    """Move the postings of a source to another one, except those that it has already; returns how many were moved.

    `same` are pairs of a posting and the other source's own, as `queries.same_postings` finds them: of each, the
    earlier arrival and the editions of both are kept. The caller holds the locks of both sources' schedules, and has
    moved all rows that refer to the postings in `same`.
    """
    merged = [pair[0] for pair in same]
    with connection.cursor() as cursor:
        cursor.execute(_EARLIEST_ARRIVAL, [merged, [pair[1] for pair in same]])
        cursor.execute(_MOVE_EDITIONS, [merged, [pair[1] for pair in same]])
        Posting.objects.filter(pk__in=merged).delete()
        cursor.execute(_MAKE_UNIQUE, [from_id, to_id])
    return Posting.objects.filter(source_id=from_id).update(source_id=to_id)
