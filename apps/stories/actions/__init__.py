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
from apps.stories.actions.sections import (
    NotASection,
    SectionValues,
    add_section,
    delete_section,
    edit_section,
    move_section,
)
from apps.stories.actions.weighing import weigh_sources
from apps.stories.queries.sections import MOST_SECTIONS

__all__ = [
    "MOST_SECTIONS",
    "PULLED_AT_ONCE",
    "NotASection",
    "Pulled",
    "SectionValues",
    "add_section",
    "delete_section",
    "edit_section",
    "forget_taste",
    "hide",
    "hide_for_all",
    "learn",
    "maintain",
    "move_section",
    "note_all_starred",
    "note_opened",
    "note_starred",
    "pull",
    "set_learning",
    "weigh_sources",
]
