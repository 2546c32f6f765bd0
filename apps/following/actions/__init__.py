"""The only writers of follows, folders, marks, tags and notes. Each is one idempotent transaction."""

from apps.following.actions.errors import NotPossible
from apps.following.actions.folders import (
    MAX_FOLDER_DEPTH,
    MAX_FOLDERS,
    create_folder,
    delete_folder,
    edit_folder,
    folder_at,
)
from apps.following.actions.follows import UNREAD_AT_FIRST_FOR, edit_follow, follow, set_view, unfollow
from apps.following.actions.history import clear_history, forget_position, remember_read, save_position
from apps.following.actions.importing import ImportReport, import_list
from apps.following.actions.marking import Marked, advance_all, forget_undo, mark_all_read, undo_mark_all
from apps.following.actions.marks import mark_for_all, mark_read, star
from apps.following.actions.merging import move_follows, move_own
from apps.following.actions.notes import MAX_NOTE_LENGTH, delete_note, share, unshare, write_note
from apps.following.actions.tags import (
    MAX_TAG_LENGTH,
    MAX_TAGS,
    checked_tag,
    delete_tag,
    merge_tags,
    rename_tag,
    tag,
    tag_for_all,
    untag,
)
