"""The only writers of schedules and of the log of retrievals. Each is one transaction and may be called twice."""

from apps.retrieval.actions.adding import Discovery, discover
from apps.retrieval.actions.planning import (
    Asked,
    adopt_sources,
    ask_soon,
    forget_answers,
    forget_old_retrievals,
    release_worker,
    remember_robots,
)
from apps.retrieval.actions.visits import start, store

__all__ = [
    "Asked",
    "Discovery",
    "adopt_sources",
    "ask_soon",
    "discover",
    "forget_answers",
    "forget_old_retrievals",
    "release_worker",
    "remember_robots",
    "start",
    "store",
]
