from apps.retrieval.algorithms.sia.policies import uniform
from apps.retrieval.policies import by_rule, gettext_noop

POLICY = by_rule(uniform, gettext_noop("Uniform: every feed equally often, at even gaps"))
