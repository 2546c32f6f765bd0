from apps.retrieval.algorithms.cgm import cgm_freshness
from apps.retrieval.policies import by_rule, gettext_noop

POLICY = by_rule(cgm_freshness, gettext_noop("Freshness-optimal (Cho, Garcia-Molina)"))
