"""Dialects: each package is one, and adding a package adds one."""

import sys
from pathlib import Path

import pytest
from django.urls import URLPattern, URLResolver

from apps.api import dialects
from apps.database.registry import entries
from extensions import dialects as bundled

HELLO = """
from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("hello/", lambda request: HttpResponse("Hello"), name="hello")]
"""


def test_every_package_has_addresses():
    folders = (*dialects.__path__, *bundled.__path__)
    names = {file.parent.name for folder in folders for file in Path(folder).glob("*/urls.py")}
    assert names == {"fever", "google_reader", "miniflux", "rest"}
    found = entries(dialects.__name__, "urlpatterns", within=".urls")
    assert [name for name, _ in found] == sorted(names)
    assert all(isinstance(pattern, URLPattern | URLResolver) for pattern in dialects.urlpatterns())


def test_without_the_extensions_the_portal_has_its_own_dialect(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("apps.database.registry.EXTENSIONS", "extensions_that_are_not_there")
    assert [name for name, _ in entries(dialects.__name__, "urlpatterns", within=".urls")] == ["rest"]


def test_a_new_package_is_a_new_dialect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before = len(dialects.urlpatterns())
    (tmp_path / "hello").mkdir()
    (tmp_path / "hello" / "__init__.py").touch()
    (tmp_path / "hello" / "urls.py").write_text(HELLO)
    monkeypatch.setattr(dialects, "__path__", [*dialects.__path__, str(tmp_path)])
    try:
        found = dialects.urlpatterns()
    finally:
        sys.modules.pop("apps.api.dialects.hello.urls", None)
        sys.modules.pop("apps.api.dialects.hello", None)
    assert len(found) == before + 1
    assert [pattern.name for pattern in found if isinstance(pattern, URLPattern)].count("hello") == 1
