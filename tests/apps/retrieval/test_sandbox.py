"""Hostile documents are read by a confined child process, which may be lost; the process that uses it goes on."""

import os
import struct
import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.extraction.site_tags import train_site_tags
from apps.retrieval import sandbox
from apps.retrieval.algorithms.reading import read_index, read_site_page
from apps.retrieval.sandbox.answers import Malformed, decode, encode
from apps.retrieval.sandbox.child import HEADER, RESULT
from apps.retrieval.sandbox.confinement import MEASURES
from apps.sources import kinds
from apps.sources.formats.feed import Follow, NotAFeed, Page, ParsedEntry, ParsedFeed
from apps.sources.formats.recipes import Recipe
from tests.apps.retrieval import hostile_functions as hostile
from tests.trials import quick_every

FILTER, LIMITS, NAMESPACE, USER = "seccomp filter", "resource limits", "user and network namespace", "unprivileged user"


REAL = sandbox.LOADED


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    sandbox.stop()  # children that an earlier test has started know other functions
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "LOADED", (f"{hostile.__name__}:load",))
        yield
    sandbox.stop()


@pytest.fixture
def new_children(monkeypatch):
    """For a test that changes how children are started: none of before are used, and none are left."""
    sandbox.stop()
    yield monkeypatch
    sandbox.stop()


def need(*any_of):
    """Skip where the machine allows none of these measures."""
    if not set(any_of) & set(sandbox.measures()):
        pytest.skip(f"this machine allows no {' and no '.join(any_of)}")


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_a_function_is_called_in_another_process():
    assert sandbox.run(hostile.pid) != os.getpid()


def test_one_child_serves_call_after_call():
    assert sandbox.run(hostile.pid) == sandbox.run(hostile.pid)


def test_arguments_and_results_of_some_size_go_through():
    document = os.urandom(3 * 2**20)
    assert sandbox.run(hostile.hexadecimal, document) == document.hex()


def test_a_documented_error_is_raised_here_and_the_child_stays():
    before = sandbox.run(hostile.pid)
    with pytest.raises(ValueError, match="invalid literal for int"):
        sandbox.run(hostile.number, "seven")
    assert sandbox.run(hostile.pid) == before


def test_any_other_error_is_a_crash():
    with pytest.raises(sandbox.Crashed, match="KeyError: 'title'"):
        sandbox.run(hostile.fail)


def test_work_without_end_is_killed_and_the_next_call_gets_a_new_child(monkeypatch):
    before = sandbox.run(hostile.pid)
    monkeypatch.setattr(sandbox, "SECONDS", 0.2)
    with pytest.raises(sandbox.TooSlow, match=r"took longer than 0\.2 s"):
        sandbox.run(hostile.work)
    monkeypatch.setattr(sandbox, "SECONDS", 20.0)
    assert sandbox.run(hostile.pid) != before


def test_a_child_that_dies_is_an_error():
    with pytest.raises(sandbox.Crashed):
        sandbox.run(hostile.end)
    assert sandbox.run(hostile.number, "7") == 7


def test_threads_share_a_few_children():
    pids: set[int] = set()
    threads = [threading.Thread(target=lambda: pids.add(sandbox.run(hostile.pid))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(pids) <= sandbox.CHILDREN


# --- what a child cannot do -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "function", [hostile.open_file, hostile.open_socket, hostile.fork, hostile.execute, hostile.signal_parent]
)
def test_the_filter_refuses_system_calls(function):
    need(FILTER)
    before = sandbox.run(hostile.pid)
    with pytest.raises(sandbox.Crashed, match=r"Error: \[Errno 1\] Operation not permitted"):
        sandbox.run(function)
    assert sandbox.run(hostile.pid) != before


def test_a_gigabyte_is_refused():
    need(LIMITS)
    with pytest.raises(sandbox.Crashed, match="too much memory"):
        sandbox.run(hostile.allocate, 2**30)
    assert sandbox.run(hostile.allocate, 2**20) == 2**20


def test_no_file_is_written(tmp_path):
    need(FILTER, LIMITS)
    with pytest.raises(sandbox.Crashed):
        sandbox.run(hostile.write_file, str(tmp_path / "file"))
    assert list(tmp_path.iterdir()) == []


def test_limits_leave_no_file_process_or_size():
    need(LIMITS)
    lines = Path(f"/proc/{sandbox.run(hostile.pid)}/limits").read_text().splitlines()
    limits = {line[:26].strip(): line[26:].split()[:2] for line in lines}
    for name in ("Max open files", "Max processes", "Max file size", "Max core file size"):
        assert limits[name] == ["0", "0"]
    assert limits["Max cpu time"] == ["600", "600"]


def test_the_kernel_confirms_the_measures_that_are_reported():
    measures, pid = sandbox.measures(), sandbox.run(hostile.pid)
    of_child = status(pid)
    assert (of_child["Seccomp"] == "2") == (FILTER in measures)
    assert (of_child["NoNewPrivs"] == "1") == ("no_new_privs" in measures)
    if USER in measures:
        assert "0" not in of_child["Uid"].split()
    if NAMESPACE in measures:
        assert int(of_child["CapEff"], 16) == 0
        assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")
        assert os.readlink(f"/proc/{pid}/ns/user") != os.readlink("/proc/self/ns/user")
        assert Path(f"/proc/{pid}/uid_map").read_text() == ""


@pytest.mark.parametrize("function", [hostile.open_file, hostile.open_socket])
def test_limits_refuse_files_and_sockets_where_there_is_no_filter(new_children, function):
    need(LIMITS)
    sandbox.stop()
    new_children.setattr(sandbox, "LOADED", (f"{hostile.__name__}:without_filter",))
    assert FILTER not in sandbox.measures()
    with pytest.raises(sandbox.Crashed, match="Too many open files"):
        sandbox.run(function)


def test_limits_refuse_processes_where_there_is_no_filter(new_children):
    need(LIMITS)
    if os.geteuid() == 0:
        need(USER)
    sandbox.stop()
    new_children.setattr(sandbox, "LOADED", (f"{hostile.__name__}:without_filter",))
    with pytest.raises(sandbox.Crashed, match="Resource temporarily unavailable"):
        sandbox.run(hostile.fork)


def test_the_environment_holds_no_secret(new_children):
    new_children.setenv("WIREBEAT_SECRET_KEY", "squeamish")
    new_children.setenv("DATABASE_URL", "postgresql://wirebeat:ossifrage@localhost/")
    found = sandbox.run(hostile.environment)
    assert "squeamish" not in str(found)
    assert "ossifrage" not in str(found)
    assert not {name for name in found if name.startswith(("WIREBEAT", "DATABASE", "DJANGO"))}


def test_descriptors_of_the_parent_are_closed(new_children):
    with Path(sys.executable).open("rb") as file:
        os.set_inheritable(file.fileno(), True)
        assert sandbox.run(hostile.open_descriptors) in ([0, 3], [0, 1, 2, 3])


# --- invalid answers --------------------------------------------------------------------------------------------------
GARBAGE = {
    "no header": b"\0",
    "wrong bytes": HEADER.pack(5) + b"hello",
    "no JSON": HEADER.pack(3) + RESULT + b"[[",
    "no UTF-8": HEADER.pack(4) + RESULT + b'"\xff"',
    "nested too deeply": HEADER.pack(100_001) + RESULT + b"[" * 100_000,
    "part of an answer": HEADER.pack(100) + RESULT + b'"be',
    "too large": struct.pack("!Q", 2**40) + RESULT,
    "unknown error": HEADER.pack(27) + b'e["SystemExit", {"code":1}]',
    "nothing": HEADER.pack(0),
}


@pytest.mark.parametrize("content", quick_every(2, [pytest.param(each, id=name) for name, each in GARBAGE.items()]))
def test_garbage_is_a_crash_and_the_next_call_gets_a_new_child(content):
    before = sandbox.run(hostile.pid)
    with pytest.raises(sandbox.Crashed):
        sandbox.run(hostile.answer_bytes, content)
    assert sandbox.run(hostile.pid) not in (before, os.getpid())


def test_an_answer_of_another_type_is_a_crash():
    with pytest.raises(sandbox.Crashed, match="invalid response"):
        sandbox.run(hostile.answer_text)


def test_a_pickle_is_not_loaded(tmp_path):
    with pytest.raises(sandbox.Crashed):
        sandbox.run(hostile.answer_pickle, str(tmp_path / "touched"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell what processes do")
def test_a_child_that_sleeps_instead_of_answering_is_killed():
    with pytest.raises(sandbox.Crashed, match="stopped working"):
        sandbox.run(hostile.sleep, 60.0)


def test_a_child_that_begins_an_answer_and_does_not_end_it_is_killed():
    with pytest.raises(sandbox.Crashed, match="stopped working"):
        sandbox.run(hostile.answer_in_part_and_work)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell what processes do")
def test_a_child_that_reads_no_request_is_killed():
    assert sandbox.run(hostile.answer_and_read_no_further) == 1
    with pytest.raises(sandbox.Crashed, match="stopped working"):
        sandbox.run(hostile.hexadecimal, bytes(2**20))


# --- answers ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Everything:
    words: tuple[str, ...]
    tags: frozenset[str]
    share: float
    at: datetime | None
    feed: ParsedFeed | Follow | None
    named: dict[str, int]
    pair: tuple[bool, str]


def test_results_come_back_as_they_were():
    entry = ParsedEntry("a", title="Grüße \ud800", published=datetime(2026, 3, 1, 10, tzinfo=UTC), authors=("A", "B"))
    for feed in (ParsedFeed("rss", entries=(entry,)), Follow("https://example.org/"), None):
        value = Everything(("x", ""), frozenset("ab"), 1, entry.published, feed, {"n": 2**70}, (True, "\0"))
        assert decode(encode(value), Everything) == value


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("1", bool),
        ("true", int),
        ("1.0", int),
        ("1e999", float),
        ("NaN", float),
        ('"2026-03-01T10:00:00"', datetime),
        ("null", datetime),
        ('["Follow","https://example.org/",1]', Follow),
        ('["ParsedEntry","https://example.org/"]', Follow),
        ('["Follow"]', Follow | ParsedFeed),
        ("[[]]", Follow | ParsedFeed),
        ('{"a":"b"}', dict[str, int]),
        ('"ab"', tuple[str, ...]),
        ("[1,2,3]", tuple[int, int]),
        ("9" * 5_000, int),
    ],
)
def test_values_of_another_type_are_malformed(content, kind):
    with pytest.raises(Malformed):
        decode(content.encode(), kind)


@given(st.binary() | st.text().map(str.encode))
def test_no_bytes_raise_anything_but_malformed(content):
    try:
        decode(content, ParsedFeed | Follow)
    except Malformed:
        return


def test_every_measure_has_a_test():
    assert {FILTER, LIMITS, NAMESPACE, USER, "no_new_privs"} == set(MEASURES)


# --- the functions that children exist for ----------------------------------------------------------------------------
PAGE = """<html><head><meta charset="%s"><title>Bridge</title></head><body><ul>
<li><a href="/1"><b>Council keeps the bridge</b></a></li><li><a href="/2"><b>Mayor opens the bath</b></a></li>
<li><a href="/3"><b>School wins the cup</b></a></li></ul></body></html>"""


@pytest.fixture(scope="module")
def real_children(_loaded):
    """For the tests from here on."""
    sandbox.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "LOADED", REAL)
        yield


def test_confined_functions_return_what_unconfined_ones_do(real_children):
    about = {"content_type": "text/html", "url": "http://localhost/"}
    recipe = Recipe(item="//li", title=".//b", link=".//a/@href")
    page, broken = (PAGE % "utf-8").encode(), b"<rss><channel><title>A & B<item><title>One</rss>"
    pages = [Page(page, **about)]
    calls = [
        lambda run: run(read_index, page, **about),
        lambda run: run(read_site_page, page, **about, wants_article=True),
        lambda run: run(kinds.propose, "xpath", pages[0], "Mayor opens the bath"),
        lambda run: run(kinds.read, "xpath", pages, recipe),
        lambda run: run(kinds.read, "podcast", [Page(broken, "", "http://localhost/")], Recipe(link="title")),
        lambda run: run(kinds.read, "scrape", pages, Recipe(more="//a\n//audio")),
        lambda run: run(train_site_tags, [(page, "text/html", "Council keeps the bridge")] * 2),
    ]
    for call in calls:
        assert call(sandbox.run) == call(lambda function, *arguments, **named: function(*arguments, **named))


@pytest.mark.parametrize(
    "charset", ["windows-1251", "shift_jis", "gb18030", "big5", "euc-kr", "koi8-r", "iso-8859-8-i"]
)
def test_confined_functions_know_every_charset(real_children, charset):
    about = {"content_type": f"text/html; charset={charset}", "url": "http://localhost/"}
    page = (PAGE % charset).encode()
    assert sandbox.run(read_index, page, **about) == read_index(page, **about)


def test_an_empty_page_is_no_feed(real_children):
    with pytest.raises(NotAFeed, match="empty"):
        sandbox.run(read_index, b"", content_type="text/html", url="http://localhost/")
