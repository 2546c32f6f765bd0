"""Metadata of any page at all is bounded."""

import json
from html import escape

from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.metadata import (
    MAX_AUTHORS,
    MAX_NAME,
    MAX_TITLE_LENGTH,
    Metadata,
    read_metadata,
)
from apps.sources.formats.text import without_controls
from tests.algorithms.test_extraction_metadata import article, ld, read

KEYS = st.sampled_from(["@type", "@id", "@graph", "headline", "author", "name", "image", "url", "contentUrl",
                        "keywords", "datePublished", "dateCreated", "isAccessibleForFree", "mainEntity",
                        "x"])  # fmt: skip
TEXTS = st.text(max_size=12) | st.sampled_from(["NewsArticle", "Person", "#ann", "2026-03-04", "true", "http://[",
                                                "&#0;", "\ud800", "\0", "9" * 40,
                                                "2026-03-04T99:99:99+99:99"])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)


def check_bounds(found: Metadata) -> None:
    assert len(found.title) <= MAX_TITLE_LENGTH
    assert len(found.authors) <= MAX_AUTHORS
    assert all(0 < len(name) <= MAX_NAME for name in found.authors)
    assert found.published is None or found.published.tzinfo is not None
    assert found.image_url == "" or found.image_url.startswith(("http://", "https://"))
    for text in (found.title, found.image_url, found.description, found.language, *found.authors):
        assert without_controls(text) == text


@given(value=JSON, wrapped=st.booleans())
def test_any_json_is_accepted(value, wrapped):
    check_bounds(read(ld(article(**{"author": value, "image": value} if wrapped else {"x": value}))))
    check_bounds(read(ld(json.dumps(value))))


@given(st.dictionaries(KEYS, JSON, max_size=8))
def test_any_article_object_is_accepted(members):
    found = read(ld([{**members, "@type": "Article"}, members]))
    check_bounds(found)
    assert "article" in found.types


NAMES = st.sampled_from(["og:title", "author", "date", "og:image", "og:locale", "og:url", "keywords", "byl"])


@given(names=st.lists(NAMES, max_size=8), content=TEXTS, rest=st.text(max_size=40))
def test_any_page_is_accepted(names, content, rest):
    heads = "".join(f'<meta name="{name}" content="{escape(content)}">' for name in names)
    head = f"<title>{content}</title>{heads}<base href='{escape(content)}'>"
    page = f"{head}<h1>{rest}</h1><time datetime='{content}'>{rest}</time>"
    check_bounds(read_metadata(read_page(page.encode("utf-8", "replace")).root, url=content))
