from apps.retrieval.policies import Policy, gettext_noop

POLICY = Policy(label=gettext_noop("One price, rescheduled after each check"))
