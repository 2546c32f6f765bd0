from apps.retrieval.algorithms.sia.policies import combined
from apps.retrieval.policies import by_rule, gettext_noop

POLICY = by_rule(combined, gettext_noop("Combined (Sia, Cho, Cho): square-root rule, at the best times"))
