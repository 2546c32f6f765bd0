"""The only writers of alerts: index terms of searches, hits, rules and messages."""

from apps.alerts.actions import matching, weighing
