"""Policies: each module of the package is one, and adding a module adds a policy."""

from pathlib import Path

import numpy as np
import pytest

from apps.retrieval.actions import change_plan
from apps.retrieval.models import Plan
from apps.retrieval.policies import OURS, Fleet, all_policies, pages_policies, policy_of
from lab.evaluations.retrieval.contenders import contenders
from tests.registries import with_module

HOURLY = """
import numpy as np

from apps.retrieval.algorithms.sia.policies import Rule, evenly_spaced
from apps.retrieval.policies import by_rule

def first_only(learned, total, weights, least, most):
    return np.array([total - least * (len(learned) - 1), *[least] * (len(learned) - 1)])

POLICY = by_rule(Rule(first_only, evenly_spaced), "Hourly")
"""


@pytest.mark.parametrize("name", all_policies())
def test_every_module_is_a_policy_that_can_be_compared(name):
    policy = all_policies()[name]
    assert policy.name == name
    assert policy.label
    assert policy.reacts == (name == OURS)
    assert name in contenders()
    assert len(name) <= Plan._meta.get_field("policy").max_length


def test_only_policies_for_pages_are_offered_for_pages_alone():
    assert pages_policies() == ["same", "cam"]
    assert policy_of("uniform", "cam", pages=True).name == "cam"
    assert policy_of("uniform", "same", pages=True).name == "uniform"
    assert policy_of("uniform", "cam").name == "uniform"


def test_a_policy_whose_module_was_removed_is_ours():
    assert policy_of("hourly").name == OURS


@pytest.mark.django_db
def test_a_new_module_is_a_new_policy(tmp_path: Path):
    with pytest.raises(ValueError, match="no policy 'hourly'"):
        change_plan(policy="hourly")
    with with_module("apps.retrieval.policies", "hourly", HOURLY, tmp_path, all_policies):
        contenders.cache_clear()
        try:
            assert change_plan(policy="hourly").policy == "hourly"
            fleet = Fleet(np.ones(3), np.ones(3), 1.0, 24.0, 24.0, lambda: range(3), lambda: None)
            timetables, _ = all_policies()["hourly"].timetables(fleet, 2.0)
            assert [timetable.per_day for timetable in timetables] == pytest.approx([4.0, 1.0, 1.0])
            assert "hourly" in contenders()
        finally:
            contenders.cache_clear()
