"""Claims of sources, which beat sends to workers."""

from datetime import timedelta
from typing import NamedTuple

LEASE = timedelta(minutes=3)  # after which a claimed source is due again, as the last resort
HEARTBEAT_SECONDS = 2.0  # between two heartbeats of a worker
MAX_SILENCE_SECONDS = 5.0  # without a heartbeat, after which a worker's sources are released
IMMEDIATE_ATTEMPTS = 3  # attempts that may end with their worker before releases back off: the source may be the cause
BACKOFF_SECONDS = 10.0  # after the first further attempt; doubled with each one
MAX_BACKOFF_SECONDS = 5_120.0


class Claim(NamedTuple):
    """One source to retrieve. It is valid while the schedule still has this `sequence`."""

    source_id: int
    sequence: int
    due_at: float  # s since the epoch; when it was due for the first time
    dispatched_at: float  # s since the epoch
