"""The only writers of the index."""

from apps.search.actions.reindexing import (
    CONSUMED_AT_ONCE,
    analyse_span,
    begin,
    clear,
    consume,
    note_missed,
    replace_span,
)
from apps.search.actions.segment_building import finish, maintain, step
from apps.search.actions.spelling import learn_spelling
