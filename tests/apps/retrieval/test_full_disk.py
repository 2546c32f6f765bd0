"""A disk that is full costs pages, and no posting: each goes on without what could not be kept."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.test import override_settings

from apps.documents import queries
from apps.documents.models import RawDocument
from apps.retrieval.crawler.page_fetches import PageFetch, with_document_kept
from apps.retrieval.http.fetching import Fetched

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def documents(settings, tmp_path):
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    with override_settings(STORAGES=settings.STORAGES | {"documents": storage}):
        yield tmp_path


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may become longer than some bytes, which is how a write fails in the middle."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


def a_page_fetch() -> PageFetch:
    fetched = Fetched(
        url="https://news.example/1",
        received_at=NOW,
        status=200,
        headers={"content-type": "text/html"},
        body=os.urandom(10_000),
    )
    return PageFetch(SimpleNamespace(url=fetched.url), fetched, SimpleNamespace(article=object()))


def test_an_article_is_stored_without_its_page_and_the_log_says_so(db, documents, caplog):
    fetch = a_page_fetch()
    with full_disk():
        assert with_document_kept(fetch, now=NOW) == fetch
    assert "the page https://news.example/1 is not kept" in caplog.text
    assert not RawDocument.objects.exists()


def test_the_page_is_kept_as_soon_as_there_is_room(db, documents):
    fetch = a_page_fetch()
    with full_disk():
        with_document_kept(fetch, now=NOW)
    kept = with_document_kept(fetch, now=NOW)
    assert kept.document
    assert queries.kept_among([kept.document]) == {kept.document}
