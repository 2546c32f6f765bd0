"""The only writers of the index."""

from apps.search.actions.consuming import CONSUMED_AT_ONCE, Consumed, consume
from apps.search.actions.reindexing import begin, empty, note_missed, read_again, write_again
from apps.search.actions.segment_building import finish, maintain, step
from apps.search.actions.spelling import learn_spelling
