"""What people do not want to be recommended."""

from datetime import datetime

from apps.accounts.models import User
from apps.recommendations.models import Dismissal


def dismiss(user: User, source_id: int, *, now: datetime) -> None:
    """Never recommend the source to this person again."""
    Dismissal.objects.bulk_create([Dismissal(user=user, source_id=source_id, at=now)], ignore_conflicts=True)
