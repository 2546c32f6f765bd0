"""The only writers of sources and of the audit log. Each is one idempotent transaction."""

from apps.sources.actions.curating import (
    MAX_AT_ONCE,
    PROGRAM,
    By,
    Curated,
    Curation,
    TooMany,
    curate,
    decision,
    delete_sources,
    note,
    note_opened,
)
from apps.sources.actions.editing import (
    STARTER_EDITION,
    NewSource,
    absorb,
    add_index_pages,
    add_source,
    add_sources,
    delete_source,
    edit_source,
    follow_sites,
    learn_from,
    load_catalogue,
    move,
    retrieve_starter_edition,
    set_interests,
    set_state,
)
from apps.sources.actions.icons import begin_icon_searches, finish_icon_search, prune_icons
