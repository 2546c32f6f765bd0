"""Every page and form answers parameters that no browser sends, with an error of the client at most."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, get_resolver, reverse

from tests.browser import everything

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
NUL, TOO_LARGE = "a\0", str(2**63)
IMPOSSIBLE_TIMES = ("2026-01-01T00:00+23:59", "9999-12-31T23:59:59-05:00", "0001-01-01T00:00+05:00")
_READ = re.compile(
    r'\b(?:GET|POST|form|given|query)(?:\.get|\.getlist)?[\[(]"([\w.-]+)"|^    (\w+) = \w*\.?\w*Field\(', re.MULTILINE
)


class RolledBack(Exception):
    pass


def parameters() -> set[str]:
    """The names of all parameters and fields that views and forms of the apps read."""
    files = (
        file.read_text(encoding="utf-8") for file in (ROOT / "apps").rglob("*.py") if "migrations" not in file.parts
    )
    return {name for file in files for pair in _READ.findall(file) for name in pair if name}


def _patterns(patterns: list[Any]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        else:
            yield from _patterns(pattern.url_patterns)


def addresses(values: dict[str, Any]) -> list[str]:
    found = set()
    for pattern in _patterns(get_resolver().url_patterns):
        arguments = {name: values.get(name, 1) for name in pattern.pattern.converters}
        with suppress(NoReverseMatch):
            found.add(reverse(pattern.name, kwargs=arguments) if pattern.name else "")
    return sorted(found - {""})


def failures(client: Client, method: str, value: str, tried: list[str]) -> list[str]:
    """The addresses that fail if all parameters have the value."""
    client.raise_request_exception = False
    data, failed = dict.fromkeys(parameters(), value), []
    for address in tried:
        with suppress(RolledBack), transaction.atomic():
            answer = getattr(client, method)(address, data)
            failed += [f"{answer.status_code} {address}"] if answer.status_code == 500 else []
            raise RolledBack
    return failed


def test_no_page_fails_for_text_that_postgres_cannot_store(client):
    user = everything.an_admin()
    known = addresses(everything.some_of_everything(user))
    client.force_login(user)
    assert {"q", "words", "shown_at"} <= parameters()
    assert len(known) > 150
    assert failures(client, "get", NUL, known[::8]) == []


@pytest.mark.trial
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("value", [NUL, TOO_LARGE, *IMPOSSIBLE_TIMES, "９", "nan", "all-0", "1,2", "x" * 5_000])
def test_no_page_or_form_fails_for_a_hostile_value(client, method, value):
    user = everything.an_admin()
    known = addresses(everything.some_of_everything(user))
    client.force_login(user)
    assert failures(client, method, value, known) == []
