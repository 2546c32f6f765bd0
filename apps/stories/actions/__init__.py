"""The only writers of stories, sections, authorities, and users' tastes."""

from apps.stories.actions.consuming import CONSUMED_AT_ONCE, consume
from apps.stories.actions.learning import (
    forget_taste,
    hide,
    hide_for_all,
    learn,
    note_all_starred,
    note_opened,
    set_learning,
)
from apps.stories.actions.maintaining import label_trends, maintain, weigh_sources
from apps.stories.actions.sections import NotASection, add_section, delete_section, edit_section, move_section
