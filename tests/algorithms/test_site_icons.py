import doctest
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.algorithms import icons
from apps.sources.algorithms.icons import MAX_ICONS, WANTED, SiteIcons, icons_of_manifest, icons_of_page
from apps.web.algorithms.icons import HUES, hue_of, letter_of

PAGE = "https://example.org/news/"
SIZES = st.integers(1, 2_000)


def found(head: str) -> tuple[str, ...]:
    return icons_of_page(f"<html><head>{head}</head><body>News".encode(), url=PAGE).icons


def test_the_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(icons).failed == 0


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<link rel='SHORTCUT ICON' href=a.ico>", ["news/a.ico"]),
        ("<link rel=icon href=a.ico><link rel=apple-touch-icon href=/b.png>", ["b.png", "news/a.ico"]),
        ("<base href='/x/'><link rel=icon href=a.png>", ["x/a.png"]),
        ("<link rel=icon href=/a.png sizes='16x16 96x96'><link rel=icon href=/b.png sizes=48x48>", ["a.png", "b.png"]),
        ("<link rel=icon href=/a.svg><link rel=icon type='image/svg+xml' href=/b>", []),
        ("<link rel=mask-icon href=/a.png><link rel=alternate href=/b.png>", []),
        ("<link rel=icon href=/a.png media='(prefers-color-scheme: dark)'><link rel=icon href=/b.png>", ["b.png"]),
        ("<link rel=icon href='data:image/png;base64,AA=='><link rel=icon href='javascript:x'>", []),
        ("<link rel=icon href=' '>", []),
    ],
)
def test_icons_of_a_page_are_found(head: str, expected: list[str]) -> None:
    assert found(head) == tuple(f"https://example.org/{path}" for path in expected)


def test_links_outside_of_the_head_are_ignored() -> None:
    """Comments of readers can contain them."""
    page = b"<html><head><title>News</title></head><body><link rel=icon href=/a.png>"
    assert icons_of_page(page, url=PAGE) == SiteIcons()


@given(st.lists(SIZES, min_size=1, max_size=9, unique=True))
def test_best_icon_is_the_smallest_that_is_large_enough_or_else_the_largest(sizes: list[int]) -> None:
    best = min((size for size in sizes if size >= WANTED), default=max(sizes))
    of_page = found("".join(f"<link rel=icon href=/{size}.png sizes={size}x{size}>" for size in sizes))
    assert of_page[0] == f"https://example.org/{best}.png"
    assert len(of_page) == min(len(sizes), MAX_ICONS)
    listed = [{"src": f"/{size}.png", "sizes": f"{size}x{size}"} for size in sizes]
    assert icons_of_manifest(json.dumps({"icons": listed}).encode(), url=PAGE) == of_page


def test_masks_and_silhouettes_of_a_manifest_are_ignored() -> None:
    listed = [{"src": f"/{name}.png", "purpose": name} for name in ("maskable", "monochrome", "any maskable")]
    manifest = json.dumps({"icons": listed}).encode()
    assert icons_of_manifest(manifest, url=PAGE) == ("https://example.org/any%20maskable.png",)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["icons", "src", "sizes", "type", "purpose"]), inner)
    ),
)


@given(st.dictionaries(st.just("icons"), ANYTHING).map(json.dumps).map(str.encode) | st.binary())
def test_any_manifest_yields_only_web_addresses(content: bytes) -> None:
    assert all(address.startswith(("https://", "http://")) for address in icons_of_manifest(content, url=PAGE))


def test_deeply_nested_manifest_has_no_icons() -> None:
    assert icons_of_manifest(b"[" * 200_000, url=PAGE) == ()


@given(st.binary() | st.text().map(lambda href: f"<head><link rel=icon href='{href}'>".encode("utf-8", "replace")))
def test_any_page_yields_only_web_addresses(html: bytes) -> None:
    assert all(address.startswith(("https://", "http://")) for address in icons_of_page(html, url=PAGE).icons)


@given(st.text())
def test_every_title_has_one_letter_and_a_colour(title: str) -> None:
    assert len(letter_of(title)) == 1
    assert 0 <= hue_of(title) < HUES


def test_titles_get_different_colours() -> None:
    assert len({hue_of(f"Feed {number}") for number in range(100)}) == HUES
