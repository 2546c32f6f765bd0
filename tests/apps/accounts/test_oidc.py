"""Signing in by an OpenID provider that the settings name."""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from portal import environment
from tests.builders import a_user

pytestmark = pytest.mark.django_db


class Provider:
    """An OpenID provider on loopback that says of everybody that they are the same person."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, list[str]]]] = []
        self.person = {"sub": "7", "preferred_username": "ada", "email": "ada@acme.example", "email_verified": True}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, path: str) -> dict[str, object]:
        if path.startswith("/.well-known/"):
            names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
            ends = {f"{name}_endpoint": f"{self.url}/{end}" for name, end in names.items()}
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"} | ends
        if path.startswith("/token"):
            claims = {"iss": self.url, "aud": "wirebeat", "iat": int(time.time()), "exp": int(time.time()) + 60}
            return {"access_token": "x", "token_type": "Bearer", "id_token": jwt.encode(claims | self.person, "k" * 32)}
        return self.person

    def _handler(provider: "Provider") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                provider.requests.append((self.path, parse_qs(self.rfile.read(length).decode())))
                body = json.dumps(provider._answer(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *arguments: object) -> None:
                """Nothing: requests are remembered."""

        return Handler


@pytest.fixture
def provider(settings, monkeypatch) -> Iterator[Provider]:
    provider = Provider()
    described = {"id": "acme", "name": "Acme", "server": provider.url, "client_id": "wirebeat", "secret": "s3cret"}
    monkeypatch.setenv("WIREBEAT_SET", json.dumps(described))
    apps = environment.identity_providers("WIREBEAT_SET")
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": apps}}
    yield provider
    provider.stop()


def come_back(client: Client, process: str = "login"):
    """The way to the provider and back, as a browser goes it."""
    address = f"{reverse('openid_connect_login', args=['acme'])}?process={process}"
    assert "Continue" in client.get(address).text
    away = client.post(address)
    target = urlsplit(away.context["redirect_to"])
    query = parse_qs(target.query)
    assert query["code_challenge_method"] == ["S256"]
    return client.get(reverse("openid_connect_callback", args=["acme"]), {"code": "c", "state": query["state"][0]})


def test_without_a_provider_nothing_is_offered(client):
    assert "third-party" not in client.get(reverse("account_login")).text
    assert client.get(reverse("openid_connect_login", args=["acme"])).status_code == 404


def test_a_user_signs_in_by_a_provider_repeatedly(client, provider):
    assert "Acme" in client.get(reverse("account_login")).text
    assert come_back(client).url == reverse("welcome")
    [user] = User.objects.all()
    assert (user.username, user.email, user.has_usable_password()) == ("ada", "ada@acme.example", False)
    again = Client()
    assert come_back(again).url == reverse("river")
    assert User.objects.count() == 1
    [form_sent] = [form for path, form in provider.requests if path == "/token"][:1]
    assert "code_verifier" in form_sent


def test_a_page_leads_to_the_provider(client, provider):
    page = client.post(reverse("openid_connect_login", args=["acme"]))
    assert page.status_code == 200
    assert f'http-equiv="refresh" content="0;URL=&#x27;{provider.url}' in page.text or provider.url in page.text
    assert "form-action 'self'" in page.headers["Content-Security-Policy"]


def test_an_account_of_the_same_address_is_not_taken_over(client, provider):
    mine = a_user("first", email="ada@acme.example")
    mine.emailaddress_set.create(email=mine.email, verified=True, primary=True)
    come_back(client)
    assert client.get(reverse("account")).status_code == 302
    assert not mine.socialaccount_set.exists()


def test_closed_sign_up_also_applies_to_providers(client, settings, provider):
    settings.SIGN_UP = "closed"
    come_back(client)
    assert not User.objects.exists()


def test_an_account_is_connected_and_can_then_be_signed_in_to(provider):
    client, user = Client(), a_user("somebody")
    client.force_login(user)
    come_back(client, "connect")
    assert user.socialaccount_set.exists()
    again = Client()
    come_back(again)
    assert again.get(reverse("account")).context["user"] == user
