"""A portal below a path of a host, as https://example.org/news, behind a proxy that takes the path away."""

import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from lab import throwaway

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "/news"
# In one process, since either takes seconds to load.
PREPARE_AND_SERVE = """
import os
import django
from django.core.management import call_command
from django.db import connections
from gunicorn.app.wsgiapp import run
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()
call_command("prepare")
connections.close_all()
run()
"""
pytestmark = pytest.mark.timeout(300)  # s; the machine may be busy


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [
            value
            for name, value in attributes
            if name in {"href", "src", "action", "hx-get", "hx-post"} and value and value.startswith("/")
        ]


def links(page):
    parser = Links()
    parser.feed(page)
    return set(parser.found)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture
def host(make_database, tmp_path, until):
    """The address of a host whose proxy hands what is below /news to a portal, and refuses everything else."""
    portal = f"127.0.0.1:{free_port()}"

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self):
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            request = urllib.request.Request(f"http://{portal}{self.path.removeprefix(PREFIX)}")
            for name in ("Host", "Cookie"):
                if name in self.headers:
                    request.add_header(name, self.headers[name])
            opener = urllib.request.build_opener(Kept)
            with opener.open(request, timeout=60) as answer:
                body = answer.read()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() in {"content-type", "location", "set-cookie"}:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    class Kept(urllib.request.HTTPErrorProcessor):
        """Answers of the portal as they are, redirections and errors as well."""

        def http_response(self, request, response):
            return response

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    settings = os.environ | {
        "DATABASE_URL": make_database(throwaway.TEMPLATE),
        "WIREBEAT_VAR": str(tmp_path),
        "WIREBEAT_URL": f"{address}{PREFIX}/",
        "WIREBEAT_STARTER_EDITION": "no",
    }
    command = [sys.executable, "-c", PREPARE_AND_SERVE, "portal.wsgi", "--bind", portal, "--no-control-socket"]
    with subprocess.Popen([*command, "--worker-class", "gthread"], cwd=ROOT, env=settings) as site:
        assert until(lambda: is_answered(f"{address}{PREFIX}/health/live") or site.poll() is not None)
        yield address
        site.terminate()
    server.shutdown()


def is_answered(address):
    try:
        return bool(fetch(address))
    except OSError:
        return False


def fetch(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode()


def test_links_cookies_and_redirections_stay_below_the_path(host):
    for path in ("/", "/catalogue/", "/search/?q=news", "/accounts/login/"):
        found = links(fetch(f"{host}{PREFIX}{path}"))
        assert len(found) > 5
        assert {link for link in found if not link.startswith(f"{PREFIX}/")} == set()
    front = fetch(f"{host}{PREFIX}/")
    assert f'data-root="{PREFIX}/"' in front
    for link in sorted(links(front)):
        if link.endswith((".css", ".js", ".svg", "/catalogue/")):
            assert fetch(f"{host}{link}")

    with urllib.request.urlopen(f"{host}{PREFIX}/accounts/login/", timeout=60) as answer:
        cookies = answer.headers.get_all("Set-Cookie")
    assert cookies
    assert all(re.search(rf"[Pp]ath={PREFIX}/(;|$)", cookie) for cookie in cookies)
    with urllib.request.urlopen(f"{host}{PREFIX}/river/", timeout=60) as answer:
        assert answer.url.startswith(f"{host}{PREFIX}/accounts/login/")
