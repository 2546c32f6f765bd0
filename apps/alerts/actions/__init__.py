"""The only writers of alerts: index terms of searches, hits, rules and messages."""

from apps.alerts.actions.matching import MATCH_BATCH, PREPARE_BATCH, forget_old_hits, match, prepare, prepare_all
from apps.alerts.actions.weighing import PROFILE_BATCH, profile_sources, raise_interests, weigh, weigh_all
