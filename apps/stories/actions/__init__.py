"""The only writers of stories, of what sources are worth to them, and of people's taste."""

from apps.stories.actions.learning import (
    forget_taste,
    hide,
    hide_for_all,
    learn,
    note_all_starred,
    note_opened,
    note_starred,
    set_learning,
)
from apps.stories.actions.maintaining import maintain
from apps.stories.actions.pulling import PULLED_AT_ONCE, Pulled, pull
from apps.stories.actions.weighing import weigh_sources

__all__ = [
    "PULLED_AT_ONCE",
    "Pulled",
    "forget_taste",
    "hide",
    "hide_for_all",
    "learn",
    "maintain",
    "note_all_starred",
    "note_opened",
    "note_starred",
    "pull",
    "set_learning",
    "weigh_sources",
]
