from apps.retrieval.policies import by_rule, gettext_noop
from extensions.algorithms.cgm import cgm_freshness

POLICY = by_rule(cgm_freshness, gettext_noop("Freshness-optimal (Cho, Garcia-Molina)"))
