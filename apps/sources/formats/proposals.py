"""Proposals of recipes from one example: a person pastes the title of an item, and gets recipes that find all items.

The search finds the element with that title, and around it the element that is repeated for each item. All ways to
address both by names, classes and attributes, never by positions, are ranked by the number of items with distinct
titles and links in similar places, and by their dates, pictures and descriptions.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log2

from lxml import etree

from apps.sources.formats.expressions import xpath
from apps.sources.formats.feed import Page
from apps.sources.formats.items import MAX_ITEMS, Node, TreeReader, date_of, words_of
from apps.sources.formats.recipes import Recipe
from apps.sources.formats.text import one_line, web_address
from apps.sources.formats.trees import Tree, read_page_tree

MIN_LIKENESS = 0.6  # of a text to the example, to be its title
MAX_PROPOSALS = 8
_MAX_ELEMENTS = 50_000  # per page
_MAX_TITLES = 6  # candidate elements
_MAX_LEVELS = 8  # from a title up to its item
_MAX_TOKENS = 5  # classes of an element
_DESCRIPTIVE = ("itemprop", "itemtype", "data-testid", "data-component", "role", "rel")
_SAFE_VALUE = re.compile(r"[\w./: -]{1,60}")
_MADE_UP = re.compile(r"\d{3}|(?:^|[-_])(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])\w{5,}$")  # classes that programs number or hash
_VAGUE = frozenset({"div", "span", "li", "a", "p", "td", "tr", "ul", "section"})
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_DESCRIPTIVE_NAMES = frozenset({*HEADINGS, "time", "img", "figcaption", "blockquote"})
ASIDE = ("nav", "footer", "aside", "form")  # where lists of links are no news
_NOT_ASIDE = f"not({' or '.join(f'ancestor::{name}' for name in ASIDE)})"
_BLOCKS = ("p", "div", "span", "td", "dd", "section", "blockquote", "summary")


@dataclass(frozen=True, slots=True)
class Proposal:
    recipe: Recipe
    titles: tuple[str, ...]  # that it finds, at most 50
    items: int  # that it finds
    score: float  # higher is likelier

    @property
    def as_json(self) -> str:
        """The recipe as a form can carry it."""
        return json.dumps(self.recipe.to_json())


def likeliest(found: Iterable[Proposal]) -> list[Proposal]:
    """The proposals that find different titles, the likeliest first; at most eight."""
    best: dict[tuple[str, ...], Proposal] = {}
    for proposal in sorted(found, key=lambda each: (-each.score, len(str(each.recipe)))):
        best.setdefault((*proposal.titles, proposal.recipe.link and "link"), proposal)
    return list(best.values())[:MAX_PROPOSALS]


def propose_paths(page: Page, wanted: str) -> Iterator[Proposal]:
    """Recipes of XPaths that find an item titled `wanted`, in plain letters, in a web page or XML document."""
    return _Search(read_page_tree(page.content, content_type=page.content_type, url=page.url)).proposals(wanted)


class _Search:
    """One page in which items are looked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.root = tree.root
        self.reader = TreeReader(is_json=False, is_html=tree.is_html, namespaces=tree.namespaces)

    def proposals(self, wanted: str) -> Iterator[Proposal]:
        tried: set[tuple[str, str]] = set()
        for title, alike in self._titles(wanted):
            for item in _upwards(title)[:_MAX_LEVELS]:
                for path, robust in _absolute_paths(item):
                    if (path, item.tag) in tried:
                        continue
                    tried.add((path, item.tag))
                    items = self._elements(path)
                    if item in items:
                        found = _Candidate(self, path, item, items).proposal(title, alike * robust)
                        yield from [found] if found else []

    def _titles(self, wanted: str) -> list[tuple[etree._Element, float]]:
        """The innermost elements whose words are most like the wanted ones."""
        found = []
        for element in self._short_elements(4 * len(wanted) + 100):
            words = plain_letters(words_of(element))
            if 2 * len(words) >= len(wanted) and (alike := likeness(words, wanted)) >= MIN_LIKENESS:
                found.append((element, alike))
        around = {parent for element, _ in found for parent in element.iterancestors()}
        inner = [(element, alike) for element, alike in found if element not in around]
        inner.sort(key=lambda each: -each[1])
        return [each for each in inner[:_MAX_TITLES] if each[1] >= inner[0][1] - 0.15]

    def _short_elements(self, longest: int) -> list[etree._Element]:
        """The elements of the body whose text is not longer; each text is only measured once."""
        elements = [each for _, each in zip(range(_MAX_ELEMENTS), self.root.iter("*"), strict=False)]
        lengths: dict[etree._Element, int] = {}
        for element in reversed(elements):
            within = sum(lengths.get(child, 0) + len(child.tail or "") for child in element)
            lengths[element] = within + len(element.text or "")
        skipped = ("script", "style", "title", "head", "meta", "option", "noscript")
        return [each for each in elements if 0 < lengths[each] <= longest and each.tag not in skipped]

    def _elements(self, path: str) -> list[etree._Element]:
        found = xpath(path, self.tree.namespaces)(self.root)
        return [each for each in found if isinstance(each, etree._Element)][: MAX_ITEMS + 1]


class _Candidate:
    """A path of items, and the item that the example is in."""

    def __init__(self, search: _Search, path: str, item: etree._Element, items: list[etree._Element]) -> None:
        self.search, self.path, self.item, self.items = search, path, item, items

    def proposal(self, title: etree._Element, weight: float) -> Proposal | None:
        if not 2 <= len(self.items) <= MAX_ITEMS:
            return None
        title_path, titles = self._title(title)
        link_path, links = self._link(title, title_path)
        if not title_path or not link_path:
            return None
        found = [(words, link) for words, link in zip(titles, links, strict=True) if words and link]
        good = min(len({words for words, _ in found}), len({link for _, link in found}))
        if good < 2:
            return None
        others = [self._description(title), self._date(), self._image()]
        share = good / len(self.items)
        richness = sum(each[1] for each in others) / len(others)
        recipe = Recipe(
            item=self.path,
            title=title_path,
            link=link_path,
            description=others[0][0],
            date=others[1][0],
            image=others[2][0],
        )
        shown = tuple(words for words in titles if words)
        # An item is rarely no more than its title.
        whole = 0.85 if words_of(self.item).split() == words_of(title).split() else 1.0
        score = weight * whole * log2(1 + good) * share * self._alike_places * (1 + richness)
        return Proposal(recipe, shown[:SHOWN], len(self.items), score)

    @cached_property
    def _alike_places(self) -> float:
        """How many of the items lie where the example lies."""
        own = _place(self.item)
        return sum(_place(each) == own for each in self.items) / len(self.items)

    def _title(self, title: etree._Element) -> tuple[str, list[str]]:
        words = one_line(words_of(title))
        around = [each for each in _upwards(title) if each is self.item or self.item in each.iterancestors()]
        same = [each for each in around if one_line(words_of(each)) == words]
        # A heading says better than the link in it what a title is.
        same.sort(key=lambda each: each.tag not in HEADINGS)
        paths = [path for each in same for path in self._paths_to(each)]
        return self._best(paths, lambda node: one_line(self.search.reader.text(node)), example=words)

    def _link(self, title: etree._Element, title_path: str) -> tuple[str, list[str]]:
        anchors = [
            each for each in (*_upwards(title), *title.iterdescendants("a")) if each.tag == "a" and each.get("href")
        ]
        within = [each for each in anchors if each is self.item or self.item in each.iterancestors()]
        paths = [path for each in within for path in self._paths_to(each)]
        if not within and anchors:  # the whole item is within a link
            paths = ["ancestor::a[1]"]
        if not anchors:
            paths = [path for each in self.item.iterdescendants("a") for path in self._paths_to(each)][:10]
            paths += ["link", "url"] if not self.search.tree.is_html else []
        return self._best(paths, self._address)

    def _address(self, node: Node) -> str:
        return web_address(self.search.reader.address(node).strip(), self.search.tree.base)

    def _description(self, title: etree._Element) -> tuple[str, float]:
        taken = {title, *title.iterancestors(), *title.iterdescendants()}
        blocks = [each for each in self.item.iterdescendants(*_BLOCKS) if each not in taken]
        longest = max(blocks, key=_own_length, default=None)
        if longest is None or _own_length(longest) < 20:
            return "", 0.0
        return self._share(self._paths_to(longest), lambda node: one_line(self.search.reader.text(node)))

    def _date(self) -> tuple[str, float]:
        dated = [each for each in self.item.iterdescendants("*") if len(words_of(each)) <= 60 and self._dated(each)]
        dated.sort(key=lambda each: each.tag != "time")
        return self._share([path for each in dated[:4] for path in self._paths_to(each)], self._dated)

    def _dated(self, node: Node) -> str:
        return next((text for text in self.search.reader.dates(node) if date_of(text)), "")

    def _image(self) -> tuple[str, float]:
        pictures = self.item.iterdescendants("img", "image", "thumbnail")
        paths = [path for each in pictures for path in self._paths_to(each)][:8]
        return self._share(
            paths, lambda node: web_address(self.search.reader.picture(node).strip(), self.search.tree.base)
        )

    def _paths_to(self, element: etree._Element) -> list[str]:
        """Ways to address an element from its item: descriptive names come before classes, other names after them."""
        if element is self.item:
            return ["."]
        tests = [f".//{test}" for test, robust in _tests(element) if robust > 0.9]
        parent = element.getparent()
        if parent is not None and parent is not self.item:
            name = _name(element)
            tests += [f".//{outer}/{name}" for outer, robust in reversed(_tests(parent)) if robust > 0.9]
        plain = f".//{_name(element)}"
        return [plain, *tests] if element.tag in _DESCRIPTIVE_NAMES else [*tests, plain]

    def _best(
        self, paths: Iterable[str], read: Callable[[Node], str], example: str | None = None
    ) -> tuple[str, list[str]]:
        """The first of the paths that find the most different values, and what it finds in each item."""
        best: tuple[str, list[str]] = ("", [""] * len(self.items))
        most = 0
        at = self.items.index(self.item)
        for path in dict.fromkeys(paths):
            values = self._values(path, read)
            count = len(set(values) - {""})
            if count > most and (values[at] == example if example is not None else values[at]):
                best, most = (path, values), count
        return best

    def _share(self, paths: Iterable[str], read: Callable[[Node], str]) -> tuple[str, float]:
        """The first of the paths that find something in the most items, and in what part of them; none in few."""
        best, most = "", 0.3
        for path in dict.fromkeys(paths):
            share = sum(map(bool, self._values(path, read))) / len(self.items)
            if share > most:
                best, most = path, share
        return best, most if best else 0.0

    def _values(self, path: str, read: Callable[[Node], str]) -> list[str]:
        compiled = xpath(path, self.search.tree.namespaces)
        found = (next(iter(compiled(each)), None) for each in self.items)
        return ["" if node is None else read(node) for node in found]


# --- ways to address an element ---------------------------------------------------------------------------------------
def _upwards(element: etree._Element) -> list[etree._Element]:
    """The element and those around it, except the body."""
    return [element, *(each for each in element.iterancestors("*") if each.tag not in ("body", "html"))]


def _tests(element: etree._Element) -> list[tuple[str, float]]:
    """Tests that an element passes, and how well each will hold: by its classes, by other attributes, by its name."""
    name = _name(element)
    tokens = dict.fromkeys((element.get("class") or "").split())
    usable = [token for token in tokens if _SAFE_VALUE.fullmatch(token)][:_MAX_TOKENS]
    tests = [(f"{name}[{_has_class(token)}]", 0.6 if _MADE_UP.search(token) else 1.0) for token in usable]
    for attribute in _DESCRIPTIVE:
        value = element.get(attribute, "")
        if value and _SAFE_VALUE.fullmatch(value):
            tests.append((f"{name}[@{attribute}='{value}']", 1.0))
    tests.sort(key=lambda each: -each[1])
    return [*tests, (name, 0.9 if element.tag in _VAGUE else 0.98)]


def _name(element: etree._Element) -> str:
    local = element.tag.rpartition("}")[2]
    if element.prefix:
        return f"{element.prefix}:{local}"
    return f"*[name()='{local}']" if ":" in local else local


def _has_class(token: str) -> str:
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {token} ')"


def _absolute_paths(element: etree._Element) -> Iterator[tuple[str, float]]:
    """Paths that find the element and its like, and how well each will hold."""
    tests = _tests(element)
    for test, robust in tests:
        yield f"//{test}", robust
    parent = element.getparent()
    if parent is not None and parent.tag not in ("body", "html"):
        for outer, outer_robust in _tests(parent)[:3]:
            for test, robust in (tests[0], tests[-1]):
                yield f"//{outer}/{test}", 0.97 * min(robust, outer_robust)
    if next(element.iterancestors(*ASIDE), None) is None:
        within = f"{_name(parent)}/" if parent is not None else ""
        yield f"//{within}{tests[-1][0]}[{_NOT_ASIDE}]", 0.95 * tests[-1][1]
    around = next((each for each in element.iterancestors() if _is_descriptive_id(each.get("id", ""))), None)
    if around is not None:
        for test, robust in (tests[0], tests[-1]):
            yield f"//*[@id='{around.get('id')}']//{test}", 0.96 * robust


def _is_descriptive_id(value: str) -> bool:
    return bool(_SAFE_VALUE.fullmatch(value)) and not _MADE_UP.search(value)


def _place(element: etree._Element) -> tuple[object, ...]:
    """What elements of one list have in common: the names around them, and the classes of the nearest."""
    parent = element.getparent()
    classes = (parent.get("class") or "").split() if parent is not None else []
    kept = frozenset(token for token in classes if not _MADE_UP.search(token))
    return (*(each.tag for each in element.iterancestors()), kept)


def _own_length(element: etree._Element) -> int:
    """The length of the text that is not within other blocks."""
    inline = (child for child in element if child.tag not in _BLOCKS)
    return (
        len(element.text or "")
        + sum(len(words_of(child)) for child in inline)
        + sum(len(child.tail or "") for child in element)
    )


# --- similarity of titles, independent of punctuation, case and width of letters --------------------------------------
SHOWN = 50  # titles of a proposal


def plain_letters(text: str) -> str:
    """The letters and digits of a text in one case, words apart by one space.

    >>> plain_letters("  “Brücke” bleibt — doch!")
    'brücke bleibt doch'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(each if each.isalnum() else " " for each in folded).split())


def likeness(one: str, other: str) -> float:
    """From 0 to 1, how many pairs of neighbouring letters two texts share: Dice's coefficient. Both in plain letters.

    >>> likeness("night", "nacht"), likeness("tea", "tea"), likeness("tea", "")
    (0.25, 1.0, 0.0)
    """
    if one == other:
        return 1.0 if one else 0.0
    pairs, others = Counter(pairwise(one)), Counter(pairwise(other))
    both = pairs.total() + others.total()
    return 2 * (pairs & others).total() / both if both else 0.0
