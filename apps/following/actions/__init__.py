"""The only writers of follows, folders, marks, tags and notes. Each is one idempotent transaction."""

from apps.following.actions.errors import NotPossible
from apps.following.actions.follows import (
    MAX_FOLDER_DEPTH,
    MAX_FOLDERS,
    UNREAD_AT_FIRST_FOR,
    ImportReport,
    create_folder,
    delete_folder,
    edit_folder,
    edit_follow,
    folder_at,
    follow,
    import_list,
    set_view,
    unfollow,
)
from apps.following.actions.marking import Marked, advance_all, forget_undo, mark_all_read, undo_mark_all
from apps.following.actions.marks import (
    MAX_TAG_LENGTH,
    MAX_TAGS,
    checked_tag,
    clear_history,
    delete_note,
    delete_tag,
    forget_position,
    mark_for_all,
    mark_read,
    merge_tags,
    remember_read,
    rename_tag,
    save_position,
    share,
    star,
    tag,
    tag_for_all,
    unshare,
    untag,
    write_note,
)
from apps.following.actions.restoring import move_follows, move_own
