from apps.retrieval.algorithms.planner.policies import Lessons
from apps.retrieval.algorithms.simulation.comparison import Evaluate, Job, priced
from apps.retrieval.policies import Policy, gettext_noop


def backtest(job: Job) -> Evaluate:
    return priced(job, Lessons.learnt(job.fold.trace, job.fold.start, job.fold.end, seed=job.seed))


POLICY = Policy(label=gettext_noop("One price, rescheduled after each check"), backtest=backtest, effort=800.0)
