"""The only writers of sources and of the audit log. Each is one idempotent transaction."""

from apps.sources.actions import curating, editing, icons
