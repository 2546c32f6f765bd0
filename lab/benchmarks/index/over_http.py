"""The search page over HTTP: how long visitors wait, and how many requests a server answers."""

import http.client
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlencode, urlsplit

import numpy as np
from django.urls import reverse

from lab.benchmarks.index.searching import Question
from lab.benchmarks.load_test.requests import portal
from lab.harness import cpu_seconds_of_family

CLIENTS = 8


def measure(warm_up: Sequence[Question], questions: Sequence[Question]) -> dict[str, float]:
    """Request pages of a fresh server, with related terms: the first one, by one client, and by eight at once.

    Another server has answered one question before, for which Postgres reads tables that were only written until then.
    """
    with portal() as (address, _):
        [first_of_all] = _seconds(address, warm_up[:1])
    with portal() as (address, web):
        [first] = _seconds(address, warm_up[1:2])
        list(_seconds(address, warm_up))
        begin_of_cpu = cpu_seconds_of_family(web.pid)
        alone = np.array(list(_seconds(address, questions))) * 1_000
        cpu = cpu_seconds_of_family(web.pid) - begin_of_cpu
        begin = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as clients:
            shares = [questions[number::CLIENTS] for number in range(CLIENTS)]
            list(clients.map(lambda share: list(_seconds(address, share)), shares))
        took = time.perf_counter() - begin
    p50, p95 = np.percentile(alone, [50, 95]).tolist()
    return {
        "http_first_of_all_ms": first_of_all * 1_000,
        "http_first_ms": first * 1_000,
        "http_p50_ms": p50,
        "http_p95_ms": p95,
        "http_web_cpu_ms": 1_000 * cpu / len(questions),
        "http_per_s": len(questions) / took,
    }


def _seconds(address: str, questions: Sequence[Question]) -> Iterator[float]:
    """From each request of one client until its whole response, one after the other."""
    path = reverse("search")  # not timed: the first call in this process loads all views
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)) as client:
        for question in questions:
            begin = time.perf_counter()
            client.request("GET", f"{path}?{urlencode({'q': question.text})}")
            response = client.getresponse()
            page = response.read()
            yield time.perf_counter() - begin
            if response.status != 200 or b"data-posting" not in page:
                raise RuntimeError(f"A search for {question.text} was answered with {response.status}.")
