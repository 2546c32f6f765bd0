"""What a person sees while the database is away."""

import pytest
from django.db import DataError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client


@pytest.fixture
def client():
    return Client(raise_request_exception=False)


def break_with(monkeypatch, error):
    def connect(self):
        raise error

    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", connect)


def test_pages_say_that_they_are_back_soon(client, monkeypatch):
    break_with(monkeypatch, OperationalError("the server is away"))
    answer = client.get("/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Nothing is lost" in answer.content.decode()


def test_other_errors_are_errors(client, monkeypatch):
    break_with(monkeypatch, DataError("a number is too large"))
    assert client.get("/").status_code == 500
