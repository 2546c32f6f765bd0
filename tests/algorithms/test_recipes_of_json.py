"""Feeds read from JSON by a recipe."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources import kinds
from apps.sources.formats import json_paths
from apps.sources.formats.feed import NotAFeed, Page
from apps.sources.formats.json_paths import json_path, read_json_tree
from apps.sources.formats.recipes import Recipe


def read(content: bytes, recipe: Recipe):
    return kinds.read("json", [Page(content, "application/json", "https://example.org/news/")], recipe)


JSON = json.dumps(
    {
        "data": {
            "items": [
                {
                    "title": "Fish &amp; chips",
                    "url": "/1",
                    "body": "&lt;p&gt;One&lt;/p&gt;",
                    "at": 1700000000,
                    "n": 1.50,
                },
                {"title": "Two", "url": "/2", "body": "a\nb", "at": None, "my key": True, "dc:by": ["Ada", "Grace"]},
            ]
        }
    }
).encode()


@pytest.mark.parametrize(
    "item", ["data.items", "$.data.items[*]", "//items/item", "/data/items/*", "/data/items", "$..items"]
)
def test_json_is_read_by_keys_in_any_notation(item):
    recipe = Recipe(item=item, title="title", link="url", description="body", date="at", author='["dc:by"]')
    first, second = read(JSON, recipe).entries
    assert (first.title, first.link, first.summary) == ("Fish & chips", "https://example.org/1", "<p>One</p>")
    assert first.published == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert (second.summary, second.authors) == ("<p>a<br>b</p>", ("Ada", "Grace"))


def found(document: object, path: str) -> list[str | None]:
    return [node.text for node in json_path(path)(read_json_tree(json.dumps(document).encode()))]


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ('a["my key"]', ["x"]),
        ("a.my key", ["x"]),
        ("a/'my key'", ["x"]),
        ("//'my key'", ["x"]),
        ("/a/*[@key='my key']", ["x"]),
        ("a.dc:by", ["y"]),
        ("/a/dc:by", ["y"]),
        ("a['7']", ["z"]),
        ("/a/7", ["z"]),
        ("a.é", ["w"]),
        ("/a/é", ["w"]),
        ("list[0]", ["1"]),
        ("list[-1]", ["2.50"]),
        ("list/item[1]", ["1"]),
        ("/list/0", ["1"]),
        ("list[7]", []),
        ("list[*]", ["1", "true", None, "2.50"]),
        ("nested[1].b", ["q"]),
        ("nested.b", ["p", "q"]),
        ("nothing.at.all", []),
        ("/nothing", []),
        ("//*[@type='boolean']", ["true"]),
    ],
)
def test_every_key_can_be_addressed(path, values):
    document = (
        '{"a": {"my key": "x", "dc:by": "y", "7": "z", "é": "w"}, "list": [1, true, null, 2.50],'
        ' "nested": [{"b": "p"}, {"b": "q"}]}'
    )
    assert [node.text for node in json_path(path)(read_json_tree(document.encode()))] == values


keys = st.text(st.sampled_from("abé_-1: ."), min_size=1, max_size=4)
documents = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab<&é ", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


def paths_in(value: object, path: tuple[object, ...] = ()):
    yield path, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from paths_in(member, (*path, key))


def as_text(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if isinstance(value, (dict, list)) or value is None else str(value)


@given(documents)
def test_json_by_path_equals_a_walk_through_the_values(document):
    tree = read_json_tree(json.dumps(document).encode())
    for path, value in paths_in(document):
        dotted = "$" + "".join(f"[{key}]" if isinstance(key, int) else f'["{key}"]' for key in path)
        as_xpath = "/" + "/".join(f"{key}" if isinstance(key, int) else f'"{key}"' for key in path)
        for expression in (dotted, as_xpath):
            [node] = json_path(expression)(tree)
            assert (node.text or None) == (as_text(value) or None)
            assert len(node) == (len(value) if isinstance(value, (dict, list)) else 0)


def test_numbers_stay_as_they_are_written():
    assert [node.text for node in read_json_tree(b"[1.50, 1e400, 123456789012345678901234567890, NaN]")] == [
        "1.50", "1e400", "123456789012345678901234567890", "NaN",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<p>", "This cannot be read as JSON"),
        (b"[" * 5_000 + b"]" * 5_000, "nested too deeply"),
        (b"[" * 300 + b"]" * 300, "nested too deeply"),
    ],
)
def test_unreadable_json_is_reported(content, message):
    with pytest.raises(NotAFeed, match=message):
        read(content, Recipe(item="a", title="b", link="c"))


def test_json_of_too_many_values_is_not_read(monkeypatch):
    monkeypatch.setattr(json_paths, "MAX_VALUES", 100)
    with pytest.raises(NotAFeed, match="more than 100 values"):
        read(b"[" + b"0," * 100 + b"0]", Recipe(item="a", title="b", link="c"))
