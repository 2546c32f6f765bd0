"""The index and its readers while processes are killed. `manage.py verify_index` does the same for longer."""

import pytest

from portal.crashes import prove


@pytest.mark.timeout(600)  # it starts a Postgres and six processes of its own, on a machine that may be busy
def test_nothing_confirmed_is_lost_when_the_writer_a_session_and_the_maintainer_are_killed():
    proof = prove(3, seed=1)
    assert proof.faults == []
    assert sum(proof.kills.values()) == 3
    assert min(proof.postings, proof.steps, proof.answers) > 0
