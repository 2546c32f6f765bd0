"""The only writers of stories, sections, authorities, and users' tastes."""

from apps.stories.actions.consuming import CONSUMED_AT_ONCE, consume
from apps.stories.actions.labelling import label_trends
from apps.stories.actions.learning import (
    forget_taste,
    hide,
    hide_for_all,
    learn,
    note_all_starred,
    note_opened,
    set_learning,
)
from apps.stories.actions.maintaining import maintain
from apps.stories.actions.sections import NotASection, add_section, delete_section, edit_section, move_section
from apps.stories.actions.weighing import weigh_sources
