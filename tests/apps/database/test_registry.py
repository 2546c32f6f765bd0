"""A package whose every module is an entry."""

import sys

import pytest

from apps.database.registry import MissingEntry, entries


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "colours_of_a_test"
    folder.mkdir()
    for name, text in {"__init__": "", "green": "COLOUR = 2", "blue": "COLOUR = 1"}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == folder.name]:
        del sys.modules[name]


def test_the_entries_of_a_package_are_in_alphabetical_order(package):
    assert list(entries(package.name, "COLOUR")) == [("blue", 1), ("green", 2)]


def test_a_module_that_is_no_entry_is_named(package):
    (package / "grey.py").write_text("SHADE = 3")
    with pytest.raises(MissingEntry, match=r"colours_of_a_test\.grey has to define COLOUR"):
        list(entries(package.name, "COLOUR"))
