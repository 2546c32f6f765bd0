"""The purpose of an element by its class names, ids and roles, in the words that publishers use."""

import json
import re
from functools import lru_cache
from pathlib import Path

import re2
from lxml import etree

# The groups that the weights were learned with, each a regular expression.
PATTERNS = json.loads(Path(__file__).with_name("cues-202611.json").read_text("utf-8"))
# Other meaningful words, in the languages of many publishers.
EXPRESSIONS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in json.loads(Path(__file__).with_name("expressions.json").read_text("utf-8")).items()
}
NAMES = tuple(PATTERNS["elements"])
BIT = {name: 1 << place for place, name in enumerate(NAMES)}

_ATTRIBUTES = ("class", "id", "itemprop", "role", "data-component", "data-testid", "data-qa")
_MAX_LABEL_LENGTH = 40  # characters
_MAX_LENGTH = 400
_CASE_CHANGE = re.compile("(?<=[a-z])(?=[A-Z])")
_NOT_LETTERS = re.compile(r"[\W_]+")


def compiled(group: str, *, case_sensitive: bool = True) -> "re2.Set":
    """The patterns of a group, matched in one pass: one by one they took half of the time of an extraction."""
    options = re2.Options()
    options.case_sensitive = case_sensitive
    patterns = re2.Set.SearchSet(options)
    for pattern in PATTERNS[group].values():
        patterns.Add(pattern)
    patterns.Compile()
    return patterns


_ALL = compiled("elements")
_CONTAINERS = compiled("containers", case_sensitive=False)
OVERLAY, EMBEDDED = range(2)  # what lies over a page or above it, and posts embedded from other sites


def words_of(element: etree._Element) -> int:
    """The groups of words that name an element's purpose, a sum of `BIT` values.

    >>> from lxml.html import fromstring
    >>> words_of(fromstring('<p class="articleBody__comments">')) == BIT["p_body"] | BIT["n_comm"] | BIT["p_art"]
    True
    """
    attributes = element.attrib
    if not attributes:
        return 0
    get = attributes.get
    values = [value for name in _ATTRIBUTES if (value := get(name))]
    if label := get("aria-label"):
        values.append(label[:_MAX_LABEL_LENGTH])
    return _groups(" ".join(values)[:_MAX_LENGTH]) if values else 0


@lru_cache(maxsize=20_000)
def _groups(names: str) -> int:
    return sum(1 << place for place in _ALL.Match(_CASE_CHANGE.sub("-", names).lower()) or ())


@lru_cache(maxsize=20_000)
def containers(names: str) -> tuple[int, ...]:
    """Which kinds of container an element is by its class, id, role and style."""
    return tuple(_CONTAINERS.Match(names) or ())


def letters(text: str) -> str:
    """The letters and digits of a text, in lower case.

    >>> letters("A_Title, 2nd")
    'atitle2nd'
    """
    return _NOT_LETTERS.sub("", text).lower()
