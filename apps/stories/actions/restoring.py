"""Import of reactions from another portal."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.stories.models import Reaction
from apps.stories.queries import tastes


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
