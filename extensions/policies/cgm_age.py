from apps.retrieval.policies import by_rule, gettext_noop
from extensions.algorithms.cgm import cgm_age

POLICY = by_rule(cgm_age, gettext_noop("Age-optimal (Cho, Garcia-Molina)"))
