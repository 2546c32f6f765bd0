"""The evaluations of feed parsers and of addresses, on collections of a few cases."""

import json
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from lab.management.commands import evaluate_formats

FEEDS = Path(__file__).parents[1] / "algorithms" / "feeds"
ADDRESSES = [
    "a remark",
    {"input": "../b?x#y", "base": "https://news.example/a/c", "href": "https://news.example/b?x#y"},
    {"input": "mailto:desk@news.example", "base": None, "href": "mailto:desk@news.example"},
    {"input": "https://exa mple.org/", "base": None, "failure": True},
]


def run(name, tmp_path, **options):
    file = tmp_path / "figures.json"
    call_command(name, json=file, **options)
    return json.loads(file.read_text())


@pytest.mark.filterwarnings("ignore")  # of feedparser
def test_feeds_are_read_by_our_parsers_and_by_feedparser(tmp_path, capsys):
    folder = tmp_path / "feeds" / "deeper"
    folder.mkdir(parents=True)
    for name in ("rss20.xml", "atom10.xml", "broken.xml"):
        shutil.copy(FEEDS / name, folder)
    (folder / "page.xml").write_text("<html><body>No feed</body></html>")
    figures = run("evaluate_formats", tmp_path, feeds=tmp_path / "feeds", list=True)
    assert (figures["files"], figures["feeds"], figures["exceptions"], figures["refused"]) == (4, 3, 0, 0)
    assert 2 <= figures["wellformed"] <= 3
    assert {f"{name}_share" for name in evaluate_formats.FIELDS} <= set(figures)
    assert 0.8 < figures["agree_share"] <= 1
    assert figures["entries_share"] == 1
    assert "deeper/atom10.xml\n  link: only we have one" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
def test_dates_agree_whatever_their_offset_from_utc(tmp_path):
    item = "<item><title>Storm</title><pubDate>Thu, 05 Oct 2023 12:00:00 +0200</pubDate></item>"
    (tmp_path / "offset.xml").write_text(f'<rss version="2.0"><channel><title>Wire</title>{item}</channel></rss>')
    assert run("evaluate_formats", tmp_path, feeds=tmp_path)["date_share"] == 1


@pytest.mark.filterwarnings("ignore")
def test_an_exception_and_a_refused_feed_are_counted(tmp_path, monkeypatch):
    feeds = tmp_path / "feeds"
    feeds.mkdir()
    for name in ("rss20.xml", "atom10.xml"):
        shutil.copy(FEEDS / name, feeds)

    def parse(content, **_):
        raise evaluate_formats.NotAFeed("no") if b"<rss" in content else RuntimeError("broken")

    monkeypatch.setattr(evaluate_formats, "parse", parse)
    figures = run("evaluate_formats", tmp_path, feeds=feeds)
    assert (figures["feeds"], figures["exceptions"], figures["refused"]) == (0, 1, 2)


def test_addresses_are_resolved_as_the_standard_requires(tmp_path):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "urltestdata.json").write_text(json.dumps(ADDRESSES))
    assert run("evaluate_addresses", tmp_path, hostile=tmp_path) == {"cases": 3, "passed": 3}


def test_an_address_that_is_resolved_otherwise_is_shown(tmp_path, capsys):
    wrong = {"input": "/b", "base": "https://news.example/", "href": "https://news.example/c"}
    (tmp_path / "urltestdata.json").write_text(json.dumps([*ADDRESSES, wrong]))
    assert run("evaluate_addresses", tmp_path, hostile=tmp_path) == {"cases": 4, "passed": 3}
    assert "failed: '/b' on 'https://news.example/'" in capsys.readouterr().out


def test_a_folder_without_cases_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"no urltestdata\.json"):
        call_command("evaluate_addresses", hostile=tmp_path)
