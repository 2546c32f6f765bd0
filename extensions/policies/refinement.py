from apps.retrieval.policies import by_rule, gettext_noop
from extensions.algorithms.multiple_retrievals import combined_by, iterative_refinement

POLICY = by_rule(
    combined_by(iterative_refinement),
    gettext_noop("Iterative refinement (Sia, Cho, Cho): square-root rule, times by their second solver"),
)
