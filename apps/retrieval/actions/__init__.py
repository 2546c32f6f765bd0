"""The only writers of the plan, of habits, schedules and the log of retrievals. Each may be called twice."""

from apps.retrieval.actions.adding import Discovery, discover
from apps.retrieval.actions.learning import learn_habits, learn_if_due
from apps.retrieval.actions.plan import change_plan, control_price, current_plan
from apps.retrieval.actions.planning import (
    Asked,
    adopt_sources,
    ask_soon,
    forget_answers,
    forget_old_retrievals,
    release_worker,
    remember_robots,
)
from apps.retrieval.actions.replanning import replan, replan_changed
from apps.retrieval.actions.visits import start, store

__all__ = [
    "Asked",
    "Discovery",
    "adopt_sources",
    "ask_soon",
    "change_plan",
    "control_price",
    "current_plan",
    "discover",
    "forget_answers",
    "forget_old_retrievals",
    "learn_habits",
    "learn_if_due",
    "release_worker",
    "remember_robots",
    "replan",
    "replan_changed",
    "start",
    "store",
]
