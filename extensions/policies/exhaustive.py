from functools import partial

from apps.retrieval.algorithms.sia.policies import Rule, square_root, well_timed
from apps.retrieval.policies import by_rule, gettext_noop
from extensions.algorithms.multiple_retrievals import exhaustive_search

# The rate is read off a line through the middles of the hours, as of the continuous rates of the paper.
RULE = Rule(square_root, partial(well_timed, solver=partial(exhaustive_search, interpolated=True)))
POLICY = by_rule(
    RULE,
    gettext_noop("Exhaustive search (Sia, Cho, Cho): square-root rule, times by their first solver, slow"),
    is_replayed=False,
)
