from apps.retrieval.algorithms.cgm import cgm_age
from apps.retrieval.policies import by_rule, gettext_noop

POLICY = by_rule(cgm_age, gettext_noop("Age-optimal (Cho, Garcia-Molina)"))
