"""The only writers of jobs. Each is idempotent."""

from apps.jobs.actions import advancing, claiming
