"""Source kinds: each module of the package is one, and adding a module adds a kind."""

from pathlib import Path

import pytest

from apps.sources import kinds
from apps.sources.formats.feed import NotAFeed, Page
from apps.sources.formats.recipes import Recipe
from tests.registries import with_module

MAX_NAME = 20  # characters of the column `Source.kind`

ROWS = """
from apps.sources.formats.feed import ParsedEntry, ParsedFeed
from apps.sources.kinds import SourceKind

def read(pages, recipe):
    [page] = pages
    rows = page.content.decode().splitlines()
    return ParsedFeed("rows", entries=tuple(ParsedEntry(title=row, guid=row) for row in rows))

KIND = SourceKind(label="Rows of a text", fields=("title",), read=read)
"""


@pytest.mark.parametrize("name", kinds.all_kinds())
def test_every_module_is_a_kind_with_a_label_and_paths_that_recipes_have(name):
    kind = kinds.kind_of(name)
    assert kind.name == name
    assert kind.label
    assert len(name) <= MAX_NAME
    assert set(kind.required) <= set(kind.fields) <= set(Recipe.__slots__)
    assert not (kind.is_feed and kind.is_crawled)
    with pytest.raises(NotAFeed):
        kinds.read(name, [Page(b"", "text/html", "https://example.org/")], Recipe())


def test_a_new_module_is_a_new_kind(tmp_path: Path):
    page = Page(b"One\nTwo", "text/plain", "https://example.org/")
    with with_module("apps.sources.kinds", "rows", ROWS, tmp_path, kinds.all_kinds):
        assert next(iter(kinds.all_kinds())) == kinds.DEFAULT
        assert kinds.kind_of("rows").label == "Rows of a text"
        feed = kinds.read("rows", [page], Recipe())
    assert [entry.title for entry in feed.entries] == ["One", "Two"]


def test_a_kind_whose_module_was_removed_reads_nothing():
    with pytest.raises(NotAFeed, match="no module"):
        kinds.read("rows", [Page(b"One", "text/plain", "https://example.org/")], Recipe())
