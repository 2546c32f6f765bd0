"""The only writers of alerts: index terms of searches, hits, rules and messages."""

from apps.alerts.actions.indexing import PREPARE_BATCH, prepare, prepare_all
from apps.alerts.actions.matching import MATCH_BATCH, match
from apps.alerts.actions.profiling import PROFILE_BATCH, profile_sources
from apps.alerts.actions.pruning import forget_old_hits
from apps.alerts.actions.weighing import raise_interests, weigh, weigh_all
