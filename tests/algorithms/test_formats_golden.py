"""Whole feeds beside the value that they must be read as."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from apps.sources.formats import parse

FEEDS = sorted(path for path in (Path(__file__).parent / "feeds").iterdir() if path.suffix in (".xml", ".json"))
PAGE_OF_FEED = {"rss20": "https://harbour.example/feed", "jsonfeed": "https://garden.example/feed.json"}


@pytest.mark.parametrize("path", FEEDS, ids=lambda path: path.stem)
def test_a_feed_is_read_whole(path: Path) -> None:
    expected = runpy.run_path(str(path.with_suffix(".py")))["expected"]
    feed = parse(path.read_bytes(), url=PAGE_OF_FEED.get(path.stem, ""))
    assert replace(feed, problems=()) == expected


@pytest.mark.parametrize("path", FEEDS, ids=lambda path: path.stem)
def test_only_broken_feeds_have_problems(path: Path) -> None:
    feed = parse(path.read_bytes())
    assert bool(feed.problems) == (path.stem in ("broken", "mendable"))


@pytest.mark.parametrize("path", [path for path in FEEDS if path.suffix == ".xml"], ids=lambda path: path.stem)
@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "utf-32"])
def test_the_character_set_changes_nothing(path: Path, charset: str) -> None:
    content = path.read_bytes()
    text = content.decode("utf-8")
    assert parse(text.encode(charset)).entries == parse(content).entries
