"""What beat hands to a worker."""

from datetime import timedelta
from typing import NamedTuple

LEASE = timedelta(minutes=3)  # after it a dispatched source that no worker has begun is due again


class Claim(NamedTuple):
    """One source to be asked. It is valid while the schedule still has this `sequence`."""

    source_id: int
    sequence: int
    due_at: float  # s since the epoch
    dispatched_at: float  # s since the epoch
