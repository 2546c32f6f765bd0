"""The audit of pages says what it needs. Lighthouse itself comes from a registry, so no test runs it."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.builders import a_source

pytestmark = pytest.mark.django_db


def test_without_a_demo_it_says_how_to_start_one():
    with pytest.raises(CommandError, match=r"no replayed feeds: run manage\.py replay"):
        call_command("audit_pages")


def test_without_node_it_names_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match=r"Install Node\.js"):
        call_command("audit_pages")


def test_without_an_article_it_says_to_wait():
    a_source(url="http://s1.replay.localhost:8700/feed", language="en", listed=True)
    with pytest.raises(CommandError, match="No article has been retrieved yet"):
        call_command("audit_pages")
