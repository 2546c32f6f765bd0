"""The number of web processes follows the load of a real gunicorn."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from lab.harness import family

ROOT = Path(__file__).resolve().parents[2]
SITE = """
import time
from portal import web_processes
from portal.web_processes import *

web_processes.MAX_PROCESSES = {most}
web_processes.WINDOW = 0.2


def application(environ, start_response):
    until = time.process_time() + (0.1 if environ["PATH_INFO"] == "/busy" else 0.0)
    while time.process_time() < until:
        pass
    start_response("200 OK", [("Content-Length", "0")])
    return []
"""


@pytest.fixture
def site(tmp_path, until):
    started = []

    def start(most):
        (tmp_path / "site_of_test.py").write_text(SITE.format(most=most), encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        command = [sys.executable, "-m", "gunicorn", "site_of_test", "--config", "python:site_of_test"]
        command += ["--worker-class", "gthread", "--threads", "16", "--preload", "--no-control-socket"]
        path = os.pathsep.join((str(ROOT), str(tmp_path)))
        process = subprocess.Popen([*command, "--bind", address], env=os.environ | {"PYTHONPATH": path}, cwd=tmp_path)
        started.append(process)

        def request(path="/"):
            with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
                assert answer.status == 200

        def answers():
            try:
                request()
            except OSError:
                return False
            return True

        assert until(answers)
        return request, lambda: len(family([process.pid])) - 1

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=30)


def requested(request, path, is_done):
    def done():
        request(path)
        return is_done()

    return done


def test_only_a_busy_process_gets_a_second_one(site, until):
    request, processes = site(2)
    begin = time.monotonic()
    while time.monotonic() < begin + 1.0:
        request()
        time.sleep(0.02)
    assert processes() == 1
    assert until(requested(request, "/busy", lambda: processes() == 2))


def test_there_are_never_more_than_allowed(site, until):
    request, processes = site(1)
    for _ in range(10):
        request("/busy")
        assert processes() == 1
