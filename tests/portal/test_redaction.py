"""No secret gets into a log, and a request that is refused is one line there."""

import io
import logging
import os
import re
import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http.multipartparser import MultiPartParserError
from django.test import Client, override_settings
from django.urls import reverse

from apps.accounts.actions import make_token
from apps.accounts.algorithms.secrets import fever_key_of
from apps.accounts.queries import invitation_by
from apps.web.pages.rows import proxied_recording
from portal import logs
from portal.redaction import redacted
from tests.builders import NOON, a_user
from tests.portal.conftest import ROOT, until
from tests.portal.test_caching import PATTERNS, an_address

SECRET = "q83vEjRWeJq83vEjRWe-q83vEjRWeJq83vEjRW_Jq8w"  # as long as the portal's own
NAMED = re.compile(r"[<(](?:\?P<|str:)(\w*(?:secret|token|key)\w*)>")
NO_SECRETS = {"openapi-json"}


class Lines:
    """What a logger of the portal would write."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self._stream = io.StringIO()
        self.handler = logging.StreamHandler(self._stream)
        self.handler.setFormatter(formatter)

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def all(self) -> list[str]:
        return self.text.splitlines()


@pytest.fixture(params=[logs.TextFormatter, logs.JsonFormatter])
def written(request) -> Iterator[Lines]:
    lines = Lines(request.param())
    logging.getLogger().addHandler(lines.handler)
    yield lines
    logging.getLogger().removeHandler(lines.handler)


@pytest.fixture
def client():
    return Client(raise_request_exception=False)


# --- secrets ----------------------------------------------------------------------------------------------------------
def test_the_secret_in_every_route_that_has_one_is_redacted():
    """A new one is found by the name of its parameter."""
    routes = [route for route, name in PATTERNS if NAMED.search(route) and name not in NO_SECRETS]
    assert len(routes) >= 8
    for route in routes:
        address = an_address(NAMED.sub(lambda found: found[0].replace("str:", "\0"), route))
        address = re.sub(r"<\0\w+>", SECRET, address) if "\0" in address else address.replace("auth", SECRET)
        assert SECRET in address
        assert SECRET not in redacted(f"Not Found: {address}"), route


@pytest.mark.parametrize(
    "text",
    [
        f"GET /fever/?api&api_key={SECRET} HTTP/1.1",
        f"Email=ada&Passwd={SECRET}&service=reader",
        f"Authorization: Bearer {SECRET}",
        f"{{'HTTP_AUTHORIZATION': 'GoogleLogin auth=ada/{SECRET}'}}",
        f"Authorization: Basic {SECRET}==",
        f"X-Auth-Token: {SECRET}",
        f"Cookie: sessionid={SECRET}; csrftoken={SECRET}",
        f"/accounts/oidc/google/login/callback/?state={SECRET}&code={SECRET}",
        f"/feeds/{SECRET}/sources.opml",
        f"/feeds//{SECRET}/rss/",
        f"/FEEDS/{SECRET}/rss/",
        f"below a folder: /news/shared/{SECRET}/",
        f"the token wb_{SECRET} is unknown",
        f"Traceback\n  File x\nValueError: wb_{SECRET}",
    ],
)
def test_secrets_are_redacted_wherever_they_stand(text):
    assert SECRET not in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "GET /feeds/health/ HTTP/1.1",
        "GET /river/source/5/?start=2024-05-01 HTTP/1.1",
        "the status code=500 of https://a.example/feeds/world.xml",
        "Key (url)=(https://a.example/) already exists",
        "basic training of 3 epochs",
    ],
)
def test_other_words_stay(text):
    assert redacted(text) == text


@pytest.mark.django_db
def test_requests_with_tokens_leave_none_in_the_log(client, written):
    person = a_user("ada", is_staff=True)
    secret = make_token(person, "phone", ["read"], now=NOON, for_fever=True)[1]
    key = fever_key_of("ada", secret)
    invitation = invitation_by(person)
    basic = b64encode(f"ada:{secret}".encode()).decode()
    for header in (f"Bearer {secret}", f"Basic {basic}", f"GoogleLogin auth=ada/{secret}"):
        for address in ("/v1/nothing", "/api/v1/nothing", "/reader/api/0/stream/contents/nothing", "/no/such/page"):
            client.get(address, headers={"authorization": header, "referer": f"http://testserver/shared/{SECRET}/"})
            client.post(address, headers={"authorization": header})
    client.get("/v1/nothing", headers={"x-auth-token": secret})
    client.get("/accounts/ClientLogin", {"Email": "ada", "Passwd": secret})
    client.post("/accounts/ClientLogin", query_params={"Email": "ada", "Passwd": secret})
    client.post("/accounts/ClientLogin", {"Email": "ada", "Passwd": f"{secret}x"})
    client.get("/fever/", {"api": "", "api_key": key, "mark": "nonsense"})
    client.post("/fever/?api&mark=nonsense", {"api_key": key})
    for name, arguments in {"private_feed": [SECRET, "rss"], "shared": [SECRET], "push": [SECRET]}.items():
        client.get(reverse(name, args=arguments))
    client.get(reverse("accept_invitation", args=[invitation]))
    client.get("/accounts/password/reset/key/1-" + SECRET + "/wrong/")
    assert len(written.all) > 10
    for each in (secret, key, basic, invitation, SECRET):
        assert each not in written.text


def test_a_failure_of_ours_keeps_its_traceback_without_the_secret(written):
    try:
        raise ValueError(f"nobody has wb_{SECRET}")
    except ValueError:
        logging.getLogger("django.request").exception("Internal Server Error: /feeds/%s/rss/", SECRET)
    assert "Traceback" in written.text
    assert SECRET not in written.text


def test_workers_write_no_secret():
    setup = f"""
import logging, django
from portal.celery import app
django.setup()
app.log.setup(loglevel="INFO")
logging.getLogger("celery.app.trace").error("Task raised: https://a.example/push/{SECRET}/ wb_{SECRET}")
logging.getLogger("celery.worker").info("Passwd={SECRET}")
"""
    done = subprocess.run([sys.executable, "-c", setup], cwd=ROOT, capture_output=True, text=True)
    assert len(done.stderr.splitlines()) == 2
    assert SECRET not in done.stderr + done.stdout


@pytest.mark.parametrize("form", ["text", pytest.param("json", marks=pytest.mark.trial)])
def test_the_web_server_writes_no_secret(tmp_path, form):
    """With its access log on, and every request failing for want of a database."""
    nothing = "127.0.0.1:1"
    environment = os.environ | {
        "WIREBEAT_VAR": str(tmp_path),
        "WIREBEAT_LOG_FORMAT": form,
        "DATABASE_URL": f"postgres://nobody@{nothing}/nothing",
        "CACHE_URL": f"redis://{nothing}/0",
        "BROKER_URL": f"redis://{nothing}/0",
    }
    listener, log = tmp_path / "s", tmp_path / "log"
    command = [sys.executable, "-m", "gunicorn", "portal.wsgi", "--logger-class", "portal.logs.WebLog"]
    command += ["--bind", f"unix:{listener}", "--no-control-socket", "--access-logfile", "-"]
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            assert until(listener.exists)
            for request in (
                f"GET /feeds/{SECRET}/rss/?token={SECRET} HTTP/1.0\r\nHost: localhost\r\n"
                f"Referer: http://localhost/shared/{SECRET}/\r\nAuthorization: Bearer {SECRET}\r\n\r\n",
                f"GET /v1/me HTTP/1.0\r\nHost: localhost\r\nX-Auth-Token: wb_{SECRET}\r\n\r\n",
                f"GET /v1/me HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {SECRET}\r\n no: header\r\n\r\n",
                f"GET /shared/{SECRET}/ NONSENSE\r\n\r\n",
            ):
                _send(listener, request)
            assert until(lambda: log.read_text().count(" HTTP/1.0") >= 2)
        finally:
            server.terminate()
            server.wait()
    logged = log.read_text()
    assert "[redacted]" in logged
    assert SECRET not in logged


def _send(listener: Path, request: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(listener))
        connection.sendall(request.encode())
        while connection.recv(65_536):
            pass


# --- refusals ---------------------------------------------------------------------------------------------------------
def refused_host(client):
    return client.get("/", headers={"host": "evil\r\n.example"})


def refused_form(client):
    return Client(enforce_csrf_checks=True, raise_request_exception=False).post("/appearance/", {"theme": "dark"})


def refused_size(client):
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10):
        form = "theme=" + "x" * 100
        return client.post("/accounts/login/", form, content_type="application/x-www-form-urlencoded")


def refused_fields(client):
    with override_settings(DATA_UPLOAD_MAX_NUMBER_FIELDS=1):
        form = "a=1&b=2&c=3"
        return client.post("/accounts/login/", form, content_type="application/x-www-form-urlencoded")


def refused_rate(client):
    for _ in range(40):
        answer = client.post("/v1/me", headers={"authorization": "Bearer wb_wrong"})
        if answer.status_code == 429:
            break
    return answer


def refused_page(client):
    return client.get("/no/such/page\nsecond/")


def refused_range(client):
    return client.get(proxied_recording("https://media.example/1.mp3"), headers={"range": "bytes=5-3"})


REFUSALS = [
    (refused_host, 400),
    (refused_form, 403),
    (refused_size, 400),
    (refused_fields, 400),
    (refused_rate, 429),
    (refused_page, 404),
    (refused_range, 416),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("send", "status"), REFUSALS, ids=lambda value: getattr(value, "__name__", value))
def test_a_refused_request_is_one_line(client, written, send, status):
    answer = send(client)
    assert answer.status_code == status
    lines = [line for line in written.all if "Unauthorized" not in line]
    assert len(lines) == 1, written.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "error", [SuspiciousOperation("a\nb"), PermissionDenied("no"), MultiPartParserError("bad boundary")]
)
def test_whatever_a_view_refuses_is_one_line(client, written, monkeypatch, error):
    def refuse(*arguments, **options):
        raise error

    monkeypatch.setattr("apps.reading.views.news.home_page", refuse)
    assert client.get("/").status_code in {400, 403}
    assert len(written.all) == 1
    assert "Traceback" not in written.text


@pytest.mark.django_db
def test_a_failure_is_more_than_one_line(client, written, monkeypatch):
    monkeypatch.delattr("apps.reading.views.news.home_page")
    assert client.get("/").status_code == 500
    assert "Traceback" in written.text
