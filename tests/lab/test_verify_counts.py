"""Counts while devices are killed; `manage.py verify_counts` does it with more operations."""

import json

import pytest
from django.core.management import call_command


@pytest.mark.trial
@pytest.mark.django_db(transaction=True)
def test_counts_are_right_whatever_devices_do_at_once(tmp_path):
    file = tmp_path / "figures.json"
    call_command("verify_counts", operations=300, kills=3, json=str(file))
    figures = json.loads(file.read_text())
    assert (figures["errors"], figures["wrong_counts"]) == (0, 0)
    assert figures["operations"] >= 300
    assert min(figures["killed"], figures["checks"]) >= 3
