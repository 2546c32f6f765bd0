from apps.retrieval.algorithms.sia.policies import resource_allocation
from apps.retrieval.policies import by_rule, gettext_noop

POLICY = by_rule(
    resource_allocation, gettext_noop("Resource allocation (Sia, Cho, Cho): square-root rule, at even gaps")
)
