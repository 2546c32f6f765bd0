"""The comparison with other readers: what feeds have shown is known, and losses and doubles are counted right."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from lab import throwaway
from lab.peers.archive import Archive
from lab.peers.base import Programs, World
from lab.peers.newsboat import Newsboat
from lab.peers.pages import time_in_turn
from lab.peers.rounds import Rounds
from lab.peers.server import FeedServer, serving
from lab.peers.sites import AHEAD, WINDOW, Fault, key_of, make_sites, number_of, show
from lab.peers.verdict import Stored, Verdict, judge

ROOT = Path(__file__).resolve().parents[2]
FEEDS = 14


@pytest.fixture(scope="module")
def server():
    with serving(FEEDS, seed=5, changes=4, faulty=10) as started:
        yield started


def fetch(server: FeedServer, peer: str, number: int, **headers: str):
    """The feed as a reader without DNS gets it: by its Host header."""
    url = server.addresses(peer).feed(number)
    host = url.removeprefix("http://").partition("/")[0]
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}/feed", headers={"Host": host, **headers})
    opener = urllib.request.build_opener(_Stay)
    try:
        with opener.open(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def site_with(server: FeedServer, fault: Fault | None):
    return next(site for site in server.sites if site.fault is fault)


def test_every_fault_occurs_and_a_good_feed_is_well_formed(server):
    assert {site.fault for site in server.sites} == {None, *Fault}
    addresses = server.addresses("other")
    shown = {site.fault: show(site, WINDOW, addresses, 1) for site in server.sites}
    assert b"<title>R&D & more" in shown[Fault.AMPERSAND]
    assert shown[Fault.CONTROL].count(b"\x0b") == WINDOW
    assert b"Caf\xe9" in shown[Fault.CHARSET]
    assert b'encoding="UTF-8"' in shown[Fault.CHARSET]
    assert shown[Fault.BLANK_LINES].startswith(b"\n\n")
    assert b"<guid" not in shown[Fault.NO_GUID]
    assert b"item" in shown[Fault.RELATIVE]
    assert addresses.port
    assert b"<link>/" in shown[Fault.RELATIVE]
    good = site_with(server, None)
    assert site_with(server, Fault.RELATIVE).feed.times[0] - good.feed.times[0] == AHEAD


def test_every_feed_of_the_usual_size_can_be_shown(server):
    sites, addresses = make_sites(300, seed=24, begin=1e9, postings=WINDOW + 2), server.addresses("other")
    assert sum(site.fault is not None for site in sites) == 30
    for site in sites:
        shown = show(site, WINDOW + 2, addresses, 1)
        assert shown.count(b"<item>\n") + shown.count(b"<entry>\n") == WINDOW


def test_guids_change_at_each_fetch_while_links_stay(server):
    site, addresses = site_with(server, Fault.CHANGING_GUIDS), server.addresses("other")
    first, second = show(site, WINDOW, addresses, 1), show(site, WINDOW, addresses, 2)
    assert first.count(b"<guid") == second.count(b"<guid") == WINDOW
    assert first != second
    assert first.replace(b'="false">1-', b'="false">2-') == second


def test_a_condition_is_met_until_something_is_published_for_that_peer(server):
    good = site_with(server, None)
    status, headers, body = fetch(server, "one", good.number)
    assert (status, body.count(b"/item/")) >= (200, WINDOW)
    tag = {"If-None-Match": headers["ETag"]}
    assert fetch(server, "one", good.number, **tag)[0] == 304
    server.publish("one", 2)
    assert fetch(server, "one", good.number, **tag)[0] == 200
    assert fetch(server, "two", good.number, **tag)[0] == 304
    assert [each.conditional for each in server.take_requests("one")] == [False, True, True]
    assert [each.status for each in server.take_requests("two")] == [304]
    assert len(server.truth("one")) == FEEDS * (WINDOW + 2)
    assert len(server.truth("two")) == FEEDS * WINDOW


def test_faults_of_the_connection(server):
    assert fetch(server, "three", site_with(server, Fault.REDIRECT).number)[0] == 302
    assert "ETag" not in fetch(server, "three", site_with(server, Fault.NO_VALIDATORS).number)[1]
    assert fetch(server, "three", site_with(server, Fault.GZIP).number)[2].startswith(b"\x1f\x8b")
    assert number_of("http://f3.three.peers.localhost:1/feed/elsewhere") == 3


def test_losses_wrong_titles_and_doubles_are_counted():
    truth = {(1, 0): "a & b", (1, 1): "Café", (1, 2): "c", (2, 0): "d"}
    stored = [
        Stored(1, "a &amp;  b", "http://x/1/item/1-0"),
        Stored(1, "Caf?", "http://x/1/item/1-1"),
        Stored(1, "c", "/1/item/1-2"),
        Stored(1, "c", "/1/item/1-2"),
        Stored(1, "d", "/2/item/1-0"),  # under the wrong feed
        Stored(1, "else", "http://x/"),
    ]
    verdict = judge(truth, stored)
    assert verdict == Verdict(published=4, stored=3, wrong_titles=1, doubled=1)
    assert verdict.lost == 1


def test_an_archive_has_the_same_words_for_everyone():
    sites = make_sites(5, seed=5, begin=1e9, postings=WINDOW, faulty=1)
    archive = Archive(sites, 50, 3, end=1e9)
    assert archive.posting(49) == Archive(sites, 50, 3, end=1e9).posting(49)
    published = [posting.published for part in archive.parts(20) for posting in part]
    assert published == sorted(published)
    assert len(set(published)) == 50
    text = " ".join(posting.text.lower() for part in archive.parts(50) for posting in part)
    for query in archive.draw_words(3, 4):
        assert all(word in text for word in query.split())
        assert len(query.split()) == 3
    assert key_of("http://f3.ours.peers.localhost:1/3/item/1-1000004") == (3, 1_000_004)


def test_pages_are_requested_in_turn(monkeypatch):
    sent = []

    class Fake:
        def __init__(self, name):
            self.name = name

    def request(peer, path):
        sent.append((peer.name, path))
        return (0.002 if peer.name == "slow" else 0.001), ""

    monkeypatch.setattr("lab.peers.pages.request", request)
    found = time_in_turn([Fake("quick"), Fake("slow")], {"quick": ["/a", "/b"], "slow": ["/c"]}, times=4)
    assert found == {"quick": 1.0, "slow": 2.0}
    assert [path for name, path in sent[-8:] if name == "quick"] == ["/a", "/b", "/a", "/b"]
    assert [name for name, _ in sent[-8:]] == ["slow", "quick", "quick", "slow"] * 2


@pytest.mark.skipif(not shutil.which("newsboat"), reason="newsboat is not installed")
def test_newsboat_is_judged_by_what_it_stores(server, tmp_path):
    with Newsboat(World(tmp_path, server.sites, server.addresses("newsboat"), Programs())) as peer:
        rounds = Rounds(peer, server)
        rounds.run(new=4, idle=0)
        figures = rounds.figures
        with sqlite3.connect(peer.cache) as connection:
            connection.execute("DELETE FROM rss_item WHERE url LIKE '%/item/1-43'")
        after = judge(server.truth("newsboat"), peer.stored())
    assert figures["import_stored"] == FEEDS * WINDOW
    assert (figures["published"], figures["stored"], figures["lost"]) == (FEEDS * (WINDOW + 4),) * 2 + (0,)
    assert figures["wrong_titles"] == 2 * (WINDOW + 4)  # of unescaped & and of cp1252
    assert figures["doubled"] > 0  # of guids that change
    assert figures["checked"] == FEEDS
    assert 0 < figures["conditional"] < FEEDS
    assert figures["import_cpu_ms"] > 0
    assert figures["memory_mb"] > 1
    assert figures["disk_kb"] > 0.1
    assert after.lost == FEEDS


@pytest.mark.trial
@pytest.mark.timeout(600)
def test_this_portal_beside_others(tmp_path):
    """With --freshrss where FRESHRSS_CHECKOUT names a checkout."""
    checkout = os.environ.get("FRESHRSS_CHECKOUT", "")
    var, figures = tmp_path / "var", tmp_path / "figures.json"
    var.mkdir()
    throwaway.copy_migrated_cluster(var / "pg")
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    sizes = ["--feeds", "10", "--new", "2", "--idle", "1", "--postings", "600", "--requests", "2", "--seconds", "1"]
    done = subprocess.run(
        [
            *(sys.executable, "manage.py", "compare_peers", *sizes, "--json", figures),
            *(["--freshrss", checkout] if checkout else []),
        ],
        env=kept | {"WIREBEAT_VAR": str(var), "WIREBEAT_THROWAWAY": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(figures.read_text())
    assert "reader is left out" in done.stdout
    for name in {key.partition(".")[0] for key in found}:
        assert (found[f"{name}.published"], found[f"{name}.lost"]) == (420, 0)
    assert (found["ours.wrong_titles"], found["ours.doubled"]) == (0, 0)
    rows = {"start_s", "import_s", "new_cpu_ms", "unchanged_cpu_ms", "conditional", "memory_mb", "archive_disk_kb"}
    rows |= {"unread.list_ms", "read.feed_ms", "read.clients_per_s", "search3_ms", "mark_all_s"}
    assert all(found[f"ours.{row}"] > 0 for row in rows)
    assert found["ours.idle_cpu_percent"] >= 0  # a resting portal may use none in one second
