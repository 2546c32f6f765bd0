"""The only writers of alerts: what searches stand for, what they find, and who is told of it."""

from apps.alerts.actions.findings import NewHit
from apps.alerts.actions.indexing import PREPARED_AT_ONCE, Prepared, prepare, prepare_all_anew
from apps.alerts.actions.matching import MATCHED_AT_ONCE, Matched, match
from apps.alerts.actions.profiling import PROFILED_AT_ONCE, profile_sources
from apps.alerts.actions.pruning import forget_old_hits
from apps.alerts.actions.weighing import raise_interests, weigh, weigh_all_anew
