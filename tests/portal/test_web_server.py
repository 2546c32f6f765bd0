"""The site starts with one process; others come and go with its requests."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
APPLICATION = """
import time
from pathlib import Path

def application(environ, start_response):
    while environ["PATH_INFO"] == "/slow" and not Path("released").exists():
        time.sleep(0.01)
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""
CONFIG = """
from portal.web_server import *
from portal import web_server
web_server.MOST_PROCESSES, web_server.CALM, web_server.ASK_SECONDS = 2, 0.5, 0.1
logger_class = "gunicorn.glogging.Logger"
"""


class Site:
    def __init__(self, process: psutil.Process, port: int) -> None:
        self.process, self.port = process, port

    def request(self, path: str) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        return connection

    def answer(self, connection: socket.socket) -> bytes:
        with connection, connection.makefile("rb") as content:
            return content.read().rpartition(b"\r\n")[2]

    def wait_for(self, processes: int) -> None:
        end = time.monotonic() + 30
        while len(self.process.children()) != processes:
            assert time.monotonic() < end, self.process.children()
            time.sleep(0.02)


@pytest.fixture
def site(tmp_path) -> Iterator[Site]:
    (tmp_path / "slow.py").write_text(APPLICATION, encoding="utf-8")
    (tmp_path / "config.py").write_text(CONFIG, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "slow",
            "--config",
            "config.py",
            "--bind",
            f"fd://{listener.fileno()}",
        ]
        environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "DJANGO_SETTINGS_MODULE": "portal.settings"}
        with subprocess.Popen(command, cwd=tmp_path, env=environment, pass_fds=[listener.fileno()]) as started:
            try:
                yield Site(psutil.Process(started.pid), listener.getsockname()[1])
            finally:
                started.terminate()


def test_requests_at_once_start_a_second_process_that_ends_when_there_are_none(site, tmp_path):
    assert site.answer(site.request("/")) == b"ok"
    site.wait_for(1)
    waiting = [site.request("/slow") for _ in range(3)]
    site.wait_for(2)
    more = [site.request("/slow") for _ in range(6)]
    (tmp_path / "released").touch()
    assert [site.answer(each) for each in [*waiting, *more]] == [b"ok"] * 9
    site.wait_for(1)
    assert site.answer(site.request("/")) == b"ok"


def test_requests_one_after_the_other_need_no_second_process(site):
    for _ in range(40):
        assert site.answer(site.request("/")) == b"ok"
    assert len(site.process.children()) == 1
