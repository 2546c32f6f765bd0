"""The only writers of the index."""

from apps.search.actions.pulling import PULLED_AT_ONCE, Pulled, pull
from apps.search.actions.reindexing import empty, note_missed, read_all_anew, to_be_read_anew
from apps.search.actions.sealing import maintain, step
from apps.search.actions.spelling import learn_spelling

__all__ = [
    "PULLED_AT_ONCE",
    "Pulled",
    "empty",
    "learn_spelling",
    "maintain",
    "note_missed",
    "pull",
    "read_all_anew",
    "step",
    "to_be_read_anew",
]
