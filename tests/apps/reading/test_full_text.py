"""Who may have the page of an article fetched, and how often."""

import pytest
from django.urls import reverse

from apps.reading.actions import full_text
from tests.builders import a_follow, a_posting, a_user

pytestmark = pytest.mark.django_db


def test_only_readers_of_a_feed_have_its_pages_fetched_and_not_without_end(client, monkeypatch, settings):
    reader, other = a_user("reader"), a_user("other")
    posting = a_posting(a_follow(reader).source, url="http://127.0.0.1:9/nobody/listens", text="A teaser …")
    address = reverse("full_text", args=[posting.pk])
    assert client.post(address).url.startswith("/accounts/login/")
    client.force_login(other)
    assert client.post(address).status_code == 404
    client.force_login(reader)
    assert "could not be found" in client.post(address, follow=True).text  # private addresses are not fetched
    monkeypatch.setattr(full_text, "MOST", 1)
    assert "many full texts" in client.post(address, follow=True).text
