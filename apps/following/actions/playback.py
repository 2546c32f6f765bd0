"""Playback positions in recordings."""

from datetime import datetime

from apps.accounts.models import User
from apps.following.models import Playback

MAX_RECORDING_SECONDS = 7 * 86_400.0


def save_position(user: User, posting_id: int, address: str, seconds: float, *, now: datetime) -> None:
    """Store the position; the last device wins."""
    Playback.objects.update_or_create(
        user=user,
        posting_id=posting_id,
        defaults={"address": address, "seconds": min(max(seconds, 0.0), MAX_RECORDING_SECONDS), "changed_at": now},
    )


def forget_position(user: User, posting_id: int) -> None:
    Playback.objects.filter(user=user, posting_id=posting_id).delete()
