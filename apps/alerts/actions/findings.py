"""What a saved search has just found, as those who act on it are told."""

from typing import NamedTuple


class NewHit(NamedTuple):
    id: int  # Hit
    saved_id: int
    user_id: int
    posting_id: int
