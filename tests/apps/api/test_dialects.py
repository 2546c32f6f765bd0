"""Dialects: each package is one, and adding a package adds one."""

import sys
from pathlib import Path

import pytest
from django.urls import URLPattern, URLResolver

from apps.api import dialects

HELLO = """
from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("hello/", lambda request: HttpResponse("Hello"), name="hello")]
"""


def test_every_package_has_addresses():
    names = {path.name for path in Path(dialects.__path__[0]).iterdir() if (path / "urls.py").exists()}
    assert names == {"fever", "google_reader", "miniflux", "rest"}
    assert all(isinstance(pattern, URLPattern | URLResolver) for pattern in dialects.urlpatterns())


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
