"""The only writers of the index."""

from apps.search.actions.consuming import CONSUMED_AT_ONCE, consume
from apps.search.actions.reindexing import analyse_span, begin, clear, note_missed, replace_span
from apps.search.actions.segment_building import finish, maintain, step
from apps.search.actions.spelling import learn_spelling
