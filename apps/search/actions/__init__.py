"""The only writers of the index."""

from apps.search.actions.pulling import PULLED_AT_ONCE, Pulled, pull
from apps.search.actions.reindexing import begin, empty, note_missed, read_again, write_again
from apps.search.actions.sealing import finish, maintain, step
from apps.search.actions.spelling import learn_spelling
