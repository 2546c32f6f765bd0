from apps.retrieval.algorithms.sia.policies import retrieval_scheduling
from apps.retrieval.policies import by_rule, gettext_noop

POLICY = by_rule(
    retrieval_scheduling, gettext_noop("Retrieval scheduling (Sia, Cho, Cho): equally often, at the best times")
)
