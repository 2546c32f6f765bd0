"""JSON documents as trees, and the paths of keys that lead to what is in them.

Two ways to write a path are understood:

- XPath whose steps are keys: `//data/children/item/data`. The elements of an array are named `item`. A key that is
  no name in XML is put in quotation marks (`//"my key"/title`), one with a colon needs none, and a number counts the
  elements of an array from 0 (`entries/0`).
- keys with dots: `data.items[0].title`, `$.store["my key"][*].url`, `$..title`. A key after an array applies to each of
  its elements.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

from lxml import etree

from apps.sources.formats.expressions import BadExpression, Path, check_xpath, xpath
from apps.sources.formats.feed import NotAFeed
from apps.sources.formats.text import without_controls

MAX_VALUES = 500_000  # per document
MAX_DEPTH = 200
ROOT, ELEMENT, ODD = "document", "item", "key"  # names of elements: the whole, an array's, those of odd keys

_NAME = re.compile(r"[^\W\d][\w.-]*")
_WRITES_XPATH = re.compile(r"""(?:[^"'/@(:]|:(?!:)|"[^"]*"|'[^']*')*(?:/|@|\(|::)|\.{1,2}$""")
_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<literal>"[^"]*"|'[^']*')|(?P<operator>//|::|\.\.|!=|<=|>=)
    |(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<name>[^\W\d][\w.-]*(?::(?!:)(?:[^\W\d][\w.-]*|\*))?)|(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_STEP = re.compile(
    r"""(?P<deep>\.\.)?\.?(?:(?P<all>\*)|(?P<key>[^.\[\]"'*]+))
    |\[\s*(?:(?P<index>-?\d{1,9})|(?P<every>\*)|"(?P<double>[^"]*)"|'(?P<single>[^']*)')\s*\]""",
    re.VERBOSE,
)


# --- from JSON to a tree ----------------------------------------------------------------------------------------------
def read_json_tree(utf8: bytes) -> etree._Element:
    """The document as elements with key and type of each value as attributes, and scalars as text.

    Raises NotAFeed if it is not JSON, has too many values, or is nested too deeply.

    >>> etree.tostring(read_json_tree(b'{"a b": [1.50, null]}')).decode()
    '<document type="object"><key key="a b" type="array"><item key="0" type="number">1.50</item><item key="1"
     type="null"/></key></document>'
    """
    try:
        # Numbers stay as they are written.
        value = json.loads(utf8, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    except RecursionError:
        raise NotAFeed("This JSON document is nested too deeply to be read.") from None
    except ValueError as error:
        raise NotAFeed(f"This cannot be read as JSON: {str(error)[:200]}.") from None
    root = etree.Element(ROOT)
    _fill(root, value, 0, count())
    return root


class _Number(str):
    """A number as it is written in the document."""


def _fill(element: etree._Element, value: Any, depth: int, counted: Iterator[int]) -> None:
    if next(counted) >= MAX_VALUES:
        raise NotAFeed(f"This JSON document has more than {MAX_VALUES:,} values, the maximum.")
    if depth > MAX_DEPTH:
        raise NotAFeed("This JSON document is nested too deeply to be read.")
    match value:
        case dict():
            element.set("type", "object")
            for key, member in value.items():
                child = etree.SubElement(element, _element_name(key), key=without_controls(key))
                _fill(child, member, depth + 1, counted)
        case list():
            element.set("type", "array")
            for index, member in enumerate(value):
                _fill(etree.SubElement(element, ELEMENT, key=str(index)), member, depth + 1, counted)
        case None:
            element.set("type", "null")
        case bool():
            element.set("type", "boolean")
            element.text = "true" if value else "false"
        case _:
            element.set("type", "number" if isinstance(value, _Number) else "string")
            element.text = without_controls(value)


@lru_cache(4096)
def _element_name(key: str) -> str:
    if not _NAME.fullmatch(key):
        return ODD
    try:
        etree.Element(key)
    except ValueError:  # letters that are not allowed in XML names
        return ODD
    return key


def type_of(element: etree._Element) -> str:
    """The JSON type of an element's value: "object", "array", "string", "number", "boolean" or "null"."""
    return element.get("type") or ""


def elements_of(node: etree._Element) -> Iterator[etree._Element]:
    """The elements of an array, also of nested ones; for any other value the node itself."""
    if type_of(node) == "array":
        for child in node:
            yield from elements_of(child)
    else:
        yield node


# --- paths ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class KeyStep:
    """One step of a path with dots: to members of a key, or to elements of an array."""

    key: str | None = None  # None: all members, or all elements
    index: int | None = None  # of an array's element
    deep: bool = False  # however far below

    def __call__(self, node: etree._Element) -> Iterator[etree._Element]:
        if self.deep:
            return (each for each in node.iterdescendants("*") if self._fits(each))
        if self.index is not None:
            in_range = type_of(node) == "array" and -len(node) <= self.index < len(node)
            return iter([node[self.index]] if in_range else [])
        if self.key is None:
            return iter(node)
        return (child for each in elements_of(node) for child in each if self._fits(child))

    def _fits(self, node: etree._Element) -> bool:
        if self.key is None:
            return True
        parent = node.getparent()
        return parent is not None and type_of(parent) == "object" and node.get("key") == self.key


class KeyPath:
    """A path with dots; called with a node, it returns the nodes it leads to."""

    def __init__(self, steps: Iterable[KeyStep]) -> None:
        self.steps = tuple(steps)

    def __call__(self, node: etree._Element) -> list[etree._Element]:
        nodes = [node]
        for step in self.steps:
            found = dict.fromkeys(reached for each in nodes for reached in step(each))
            nodes = list(found)
        return nodes


def json_path(expression: str) -> Path:
    """The compiled path in either syntax. Raises BadExpression if it is neither.

    >>> document = read_json_tree(b'{"data": [{"my key": "tea"}]}')
    >>> [node.text for node in json_path("data[0]['my key']")(document)]
    ['tea']
    >>> [node.text for node in json_path('/data/item/"my key"')(document)]
    ['tea']
    >>> json_path("data[")
    Traceback (most recent call last):
    apps.sources.formats.expressions.BadExpression: It is not a path of keys: “[” at character 5 is not understood.
    """
    if _WRITES_XPATH.match(expression):
        return xpath(_rewritten(expression))
    return KeyPath(_steps(expression))


def check_json_path(expression: str) -> None:
    """Raise BadExpression for an invalid path or an unknown function."""
    json_path(expression)
    if _WRITES_XPATH.match(expression):
        check_xpath(_rewritten(expression))


def _steps(expression: str) -> Iterator[KeyStep]:
    position = 1 if expression.startswith("$") else 0
    while position < len(expression):
        step = _STEP.match(expression, position)
        if step is None or not step[0].strip(". "):
            raise BadExpression(
                f"It is not a path of keys: “{expression[position : position + 8]}” at character {position + 1}"
                " is not understood."
            )
        position = step.end()
        if step["index"] is not None:
            yield KeyStep(index=int(step["index"]))
        elif step["all"] or step["every"]:
            yield KeyStep(deep=step["deep"] is not None)
        else:
            quoted = step["double"] if step["double"] is not None else step["single"]
            yield KeyStep(key=quoted if quoted is not None else step["key"].strip(), deep=step["deep"] is not None)


def _rewritten(expression: str) -> str:
    """The XPath adapted to the tree: it begins below the root, and finds keys that are no XML names by attribute."""
    tokens = [match for match in _TOKEN.finditer(expression) if match.lastgroup != "space"]
    written: list[str] = []
    end = 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1][0] if index else ""
        after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        written += [expression[end : token.start()], _rewritten_token(token, before, after)]
        end = token.end()
    return "".join(written)


def _rewritten_token(token: re.Match[str], before: str, after: str) -> str:
    text, kind = token[0], token.lastgroup
    is_step = before in {"/", "//", "::"}
    if text == "/" and _begins_path(before):
        # An absolute path begins below the root, whose name is an implementation detail.
        return "/*/" if after and (after[0].isalnum() or after[0] in "_*.@\"'") else "/*"
    if is_step and kind == "literal":
        return f"*[@key={text}]"
    if is_step and kind == "number":
        return f'*[@key="{text}"]'
    if kind == "name" and ":" in text and before not in {"@", "$"} and after != "(":
        return f'*[@key="{text}"]'
    return text


def _begins_path(before: str) -> bool:
    return before in {"", "(", "[", ",", "|", "+", "-", "=", "!=", "<", "<=", ">", ">=", "and", "or", "div", "mod"}
