from apps.retrieval.policies import by_rule, gettext_noop
from extensions.algorithms.multiple_retrievals import combined_by, exhaustive_search

POLICY = by_rule(
    combined_by(exhaustive_search),
    gettext_noop("Exhaustive search (Sia, Cho, Cho): square-root rule, times by their first solver, slow"),
    is_replayed=False,
)
