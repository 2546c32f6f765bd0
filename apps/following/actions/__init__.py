"""The only writers of follows, folders, marks, tags and notes. Each is one idempotent transaction."""

from apps.following.actions import errors, follows, highlights, marking, marks, restoring
