"""Paths of keys proposed from one example: the title of an item of a JSON document."""

import re
from collections.abc import Callable, Iterator
from math import log2

from lxml import etree

from apps.sources.formats.feed import Page
from apps.sources.formats.items import MAX_ITEMS, date_of
from apps.sources.formats.json_paths import json_path, read_json_tree, type_of
from apps.sources.formats.proposals import SHOWN, Proposal, likeness, plain_letters
from apps.sources.formats.recipes import Recipe
from apps.sources.formats.text import plain_text
from apps.sources.formats.trees import decoded

_PLAIN_KEY = re.compile(r"""[^.\[\]"'*/@(:$\s]+""")
_MAX_TITLES = 10
_ADDRESS = re.compile(r"(?:https?:/)?/\S+")
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)\b", re.IGNORECASE)
# What the keys of each field are called, the likeliest first.
_LINK = re.compile(r"^(?:permalink|link|url|href|web_?url|html_url|canonical|share_?url|path)$|url|link", re.IGNORECASE)
_DATE = re.compile(r"publish|date|time|created|posted|updated|_at$", re.IGNORECASE)
_IMAGE = re.compile(r"image|img|thumb|picture|photo|cover|poster|icon", re.IGNORECASE)


def propose_keys(page: Page, wanted: str) -> Iterator[Proposal]:
    """Recipes of keys that find an item titled `wanted`, in plain letters, in a JSON document."""
    utf8, _ = decoded(page.content, page.content_type)
    for title, alike in _titles(read_json_tree(utf8), wanted):
        for item in (each for each in (title, *title.iterancestors()) if _is_element(each)):
            if found := _proposal(title, item, alike):
                yield found


def _titles(root: etree._Element, wanted: str) -> list[tuple[etree._Element, float]]:
    texts = (
        each for each in root.iter() if type_of(each) == "string" and len(each.text or "") <= 4 * len(wanted) + 100
    )
    found = [(each, likeness(plain_letters(plain_text(each.text or "")), wanted)) for each in texts]
    found.sort(key=lambda each: -each[1])
    return [each for each in found[:_MAX_TITLES] if each[1] >= 0.6]


def _is_element(node: etree._Element) -> bool:
    parent = node.getparent()
    return parent is not None and type_of(parent) == "array"


def _proposal(title: etree._Element, item: etree._Element, weight: float) -> Proposal | None:
    array = item.getparent()
    assert array is not None
    item_path = _keys(array, None) or "$"
    root = item.getroottree().getroot()
    items = [each for each in json_path(item_path)(root) if each is array or type_of(each) == "array"]
    elements = [each for holder in items for each in holder][: MAX_ITEMS + 1]
    if not 2 <= len(elements) <= MAX_ITEMS:
        return None
    title_path = _keys(title, item) or "."
    titles = [plain_text(value) for value in _values(elements, title_path)]
    link = _field(elements, item, _LINK, lambda value: bool(_ADDRESS.fullmatch(value)), distinct=True)
    if not link:
        return None
    good = min(len(set(titles) - {""}), len(set(_values(elements, link)) - {""}))
    dates = _field(elements, item, _DATE, lambda value: date_of(value) is not None)
    image = _field(
        elements, item, _IMAGE, lambda value: bool(_ADDRESS.fullmatch(value)) or bool(_PICTURE.search(value))
    )
    description = _longest(elements, item, title_path)
    recipe = Recipe(item=item_path, title=title_path, link=link, description=description, date=dates, image=image)
    richness = sum(map(bool, (description, dates, image))) / 3
    score = weight * log2(1 + good) * (good / len(elements)) ** 2 * (1 + richness)
    return Proposal(recipe, tuple(filter(None, titles))[:SHOWN], len(elements), score)


def _keys(node: etree._Element, above: etree._Element | None) -> str:
    """The path with dots from a node above, or the root, down to this one; it goes through arrays by itself."""
    keys: list[str] = []
    while node is not above and (parent := node.getparent()) is not None:
        if type_of(parent) == "object":
            keys.append(node.get("key") or "")
        node = parent
    path = ""
    for key in reversed(keys):
        path += (f".{key}" if path else key) if _PLAIN_KEY.fullmatch(key) else _quoted(key)
    return path


def _quoted(key: str) -> str:
    return f"['{key}']" if '"' in key else f'["{key}"]'


def _values(elements: list[etree._Element], path: str) -> list[str]:
    compiled = json_path(path)
    found = (next(iter(compiled(each)), None) for each in elements)
    return ["" if node is None else (node.text or "").strip() for node in found]


def _scalars(item: etree._Element) -> Iterator[etree._Element]:
    return (each for each in item.iterdescendants() if type_of(each) in ("string", "number"))


def _field(
    elements: list[etree._Element],
    item: etree._Element,
    names: re.Pattern[str],
    fits: Callable[[str], bool],
    *,
    distinct: bool = False,
) -> str:
    """The path of the member whose values fit in most elements; among equals the one with the likeliest name."""
    best, most = "", 0.3
    for node in _scalars(item):
        path = _keys(node, item)
        if not path or not names.search(node.get("key") or "") or not fits((node.text or "").strip()):
            continue
        values = [value for value in _values(elements, path) if value and fits(value)]
        share = (len(set(values)) if distinct else len(values)) / len(elements)
        exact = names.fullmatch(node.get("key") or "")
        share += 0.01 if exact else 0.0
        if share > most:
            best, most = path, share
    return best


def _longest(elements: list[etree._Element], item: etree._Element, title_path: str) -> str:
    """The path of the longest text other than the title."""
    texts = [each for each in _scalars(item) if type_of(each) == "string" and not _ADDRESS.fullmatch(each.text or "")]
    texts.sort(key=lambda each: -len(each.text or ""))
    for node in texts[:3]:
        path = _keys(node, item)
        if path and path != title_path and len(node.text or "") >= 20:
            return path
    return ""
