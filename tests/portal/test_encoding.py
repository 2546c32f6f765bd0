"""No charset that a request names is a server error, or changes what its text means."""

import pytest
from django.test import Client

from tests.builders import a_user

pytestmark = pytest.mark.django_db

CHARSETS = ["iso-8859-1", "utf-7", "utf-16", "rot13", "zlib", "undefined", "unicode_escape", "no-such-charset", "UTF8"]


@pytest.fixture
def client() -> Client:
    return Client(enforce_csrf_checks=True, raise_request_exception=True)


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_query_is_read_as_utf8(client, charset):
    response = client.generic("GET", "/search/?q=bl%C3%A5", content_type=f"text/plain; charset={charset}")
    assert response.status_code == 200
    assert "blå" in response.text


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_form_is_read_as_utf8(client, charset):
    client.force_login(person := a_user())
    client.get("/folders/")
    token = client.cookies["csrftoken"].value
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    response = client.generic("POST", "/folders/", f"csrfmiddlewaretoken={token}&name=bl%C3%A5".encode(), kind)
    assert response.status_code == 302
    assert person.folders.get().name == "blå"


def test_pages_are_padded_and_static_files_are_not(client):
    named = 1 << 3  # the header has a name: the padding (RFC 1952, 2.3.1)
    for path, flags in (("/static/css/base.css", 0), ("/help/keys/", named)):
        response = client.get(path, headers={"accept-encoding": "gzip"})
        assert response.headers["Content-Encoding"] == "gzip", path
        assert response.getvalue()[3] == flags
