"""Learning users' tastes from their reactions, unless they switched it off; reactions of another portal."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.database.statements import execute
from apps.following.models import Mark
from apps.stories.algorithms.taste import Item, weight_of
from apps.stories.models import Reaction, Taste
from apps.stories.queries import front as tastes
from apps.stories.queries.packing import packed_weights

LEARNT_AT_ONCE = 200  # reactions in one transaction


# Most opened postings were opened before, and the user waits for the page: then nothing is written.
_OPEN = """
INSERT INTO stories_reaction (user_id, posting_id, opened_at, learnt, stale, changed_at)
SELECT %(user)s, %(posting)s, %(now)s, 0, true, %(now)s
WHERE NOT EXISTS (SELECT FROM stories_taste WHERE user_id = %(user)s AND NOT is_on) AND NOT EXISTS (
    SELECT FROM stories_reaction WHERE user_id = %(user)s AND posting_id = %(posting)s AND opened_at IS NOT NULL)
ON CONFLICT (user_id, posting_id) DO UPDATE SET
    opened_at = excluded.opened_at, stale = true, changed_at = excluded.changed_at
"""


def note_opened(user: User, posting_id: int, *, now: datetime) -> None:
    """Note that a user opened a posting for the first time."""
    execute(_OPEN, {"user": user.pk, "posting": posting_id, "now": now})


@transaction.atomic
def note_all_starred(user: User, posting_ids: Collection[int], *, now: datetime) -> None:
    """Mark reactions as stale after stars were set or removed."""
    if posting_ids and tastes.is_learning(user):
        _note([(user.pk, id) for id in posting_ids], now)


@transaction.atomic
def hide(user: User, posting_id: int, *, hidden: bool, now: datetime) -> None:
    """Hide a posting and rank similar ones lower, or undo that."""
    _note([(user.pk, posting_id)], now, hidden_at=now if hidden else None)


def hide_for_all(pairs: Collection[tuple[int, int]], *, hidden: bool = True, now: datetime) -> None:
    """Hide postings for many users at once, or undo that; pairs are of a user's and a posting's id."""
    _note(pairs, now, hidden_at=now if hidden else None)


def _note(pairs: Collection[tuple[int, int]], now: datetime, **times: datetime | None) -> None:
    """Set times of reactions, and mark them as stale."""
    values = {"stale": True, "changed_at": now, **times}
    Reaction.objects.bulk_create(
        [Reaction(user_id=user_id, posting_id=posting_id, **values) for user_id, posting_id in sorted(set(pairs))],
        update_conflicts=True,
        unique_fields=["user", "posting"],
        update_fields=list(values),
    )


@transaction.atomic
def set_learning(user: User, *, is_on: bool) -> None:
    Taste.objects.update_or_create(user=user, defaults={"is_on": is_on})


@transaction.atomic
def forget_taste(user: User) -> None:
    """Reset a user's taste; hidden postings and the switch stay."""
    Taste.objects.filter(user=user).update(weight=0.0, liked=b"", disliked=b"", centroid=b"", learnt_at=None)
    Reaction.objects.filter(user=user, hidden_at=None).delete()
    Reaction.objects.filter(user=user).update(stale=False)


@transaction.atomic
def learn(*, now: datetime) -> int:
    """Learn from stale reactions, and from the postings beside those opened, which were passed over.

    Returns the number of reactions.
    """
    opened = Reaction.objects.filter(stale=True, opened_at__isnull=False, learnt__lte=0)  # not learnt yet
    for reaction in opened.select_related("user").order_by("pk")[:LEARNT_AT_ONCE]:
        beside = [
            Reaction(user=reaction.user, posting_id=id, stale=True, changed_at=now)
            for id in sorted(tastes.passed_over(reaction.user, reaction.posting_id))
        ]
        Reaction.objects.bulk_create(beside, ignore_conflicts=True)
    stale = Reaction.objects.filter(stale=True).order_by("pk").select_for_update(skip_locked=True)[:LEARNT_AT_ONCE]
    by_user: defaultdict[int, list[Reaction]] = defaultdict(list)
    for reaction in stale:
        by_user[reaction.user_id].append(reaction)
    items = tastes.items_of([each.posting_id for reactions in by_user.values() for each in reactions])
    for user_id in sorted(by_user):
        _learn_of(user_id, by_user[user_id], items, now)
    return sum(map(len, by_user.values()))


def _learn_of(user_id: int, reactions: list[Reaction], items: Mapping[int, Item], now: datetime) -> None:
    row, _ = Taste.objects.select_for_update().get_or_create(user_id=user_id)
    taste = tastes.read_taste(row)
    if row.learnt_at is not None:
        taste.fade((now - row.learnt_at) / timedelta(days=1))
    marks = Mark.objects.filter(user_id=user_id, posting_id__in=[each.posting_id for each in reactions])
    starred = set(marks.filter(starred_at__isnull=False).values_list("posting_id", flat=True))
    for reaction in reactions:
        weight = weight_of(
            opened=reaction.opened_at is not None,
            starred=reaction.posting_id in starred,
            hidden=reaction.hidden_at is not None,
        )
        if row.is_on and weight != reaction.learnt and reaction.posting_id in items:
            taste.learn(items[reaction.posting_id], weight - reaction.learnt)
            reaction.learnt = weight
        reaction.stale = False
    Reaction.objects.bulk_update(reactions, ["learnt", "stale"])
    row.weight, row.learnt_at = taste.weight, now
    row.liked, row.disliked = _joined(taste.liked), _joined(taste.disliked)
    row.centroid = _joined(taste.centroid)
    row.save()


def _joined(weights: dict[int, float]) -> bytes:
    return packed_weights({term: weight for term, weight in weights.items() if abs(weight) > 1e-4})


@transaction.atomic
def restore_reactions(user: User, reactions: Mapping[int, Mapping[str, Any]]) -> int:
    """Add reactions by posting id where the user has none; returns how many are new.

    They are learnt like other new ones, unless the user switched that off.
    """
    is_learning = tastes.is_learning(user)
    there = set(Reaction.objects.filter(user=user, posting_id__in=reactions).values_list("posting_id", flat=True))
    new = [
        Reaction(user=user, posting_id=posting_id, stale=is_learning, **reactions[posting_id])
        for posting_id in sorted(reactions.keys() - there)
    ]
    Reaction.objects.bulk_create(new, ignore_conflicts=True, batch_size=1_000)
    return len(new)
