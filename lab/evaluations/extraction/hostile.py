"""Search for what cleaned markup must never contain, by two parsers that are not used for cleaning.

Also reads the public collections of hostile markup, each in its own format.
"""

import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from html.parser import HTMLParser

import lxml.html

_ELEMENTS = frozenset({
    "annotation-xml", "applet", "base", "body", "button", "canvas", "embed", "form", "frame", "frameset", "head",
    "html", "iframe", "input", "link", "maction", "malignmark", "meta", "mglyph", "noembed", "noscript", "object",
    "option", "param", "plaintext", "script", "select", "style", "svg", "template", "textarea", "title", "xmp",
})  # fmt: skip
_ATTRIBUTES = frozenset({
    "action", "autofocus", "background", "class", "contenteditable", "data", "formaction", "http-equiv", "id", "name",
    "ping", "slot", "srcdoc", "style", "target", "usemap",
})  # fmt: skip
_ADDRESSES = frozenset({"cite", "href", "longdesc", "lowsrc", "poster", "src", "srcset"})
_HARMLESS_ADDRESS = re.compile(r"https?://[^\s/]|mailto:", re.IGNORECASE)
_HARMLESS_PICTURE = re.compile(r"https?://[^\s/]|data:image/(?:png|jpe?g|gif|webp|avif)[;,]", re.IGNORECASE)
_CLASS_OF_CODE = re.compile(r"language-[\w+#-]{1,20}|[a-z]?")
_SIZE = re.compile(r"\d+(?:\.\d+)?[wx],?")
_PAYLOAD_OF_SCRIPT = re.compile(r"""["']?payload["']?\s*:\s*("(?:[^"\\]|\\.)*")""")


def complaints(html: str) -> list[str]:
    """Name what a browser might run, load as a page of its own or submit; empty for safe markup.

    >>> complaints('<p><a href="https://example.org/">fine</a></p>')
    []
    >>> complaints('<a href="java&#10;script:x" onclick=x>no</a>')
    ['href=java\\nscript:x', 'onclick']
    """
    found = [*_complaints(_elements_of_lxml(html)), *_complaints(_elements_of_tokens(html))]
    return sorted(set(found))


def payloads(name: str, text: str) -> list[str]:
    """The hostile inputs of a file, in the format detected from its name and beginning.

    Known are JSON lists of strings or of objects with an `input` (html5lib's sanitizer and tokenizer), html5lib's
    trees (`.dat`), pairs parted by a line of "--" (`.test`), and modules whose objects have a `payload` (`.mjs`).
    Strings and cases for addresses, which name a `base`, come as links and pictures too. Other files hold none.

    >>> payloads("pair.test", "<b>in\\n--\\nout")
    ['<b>in']
    """
    if name.endswith((".dat", ".json", ".test")) and text.lstrip()[:1] in ("[", "{"):
        cases = json.loads(text)
        if isinstance(cases, dict):
            cases = cases.get("tests", [])
        return [payload for case in cases for payload in _payloads_of_case(case)]
    if name.endswith(".dat"):
        return re.findall(r"(?ms)^#data\n(.*?)\n#errors", text)
    if name.endswith(".test"):
        return [text.split("\n--\n")[0]]
    if name.endswith(".mjs"):
        return [json.loads(literal) for literal in _PAYLOAD_OF_SCRIPT.findall(text)]
    return []


def _payloads_of_case(case: object) -> Iterator[str]:
    if isinstance(case, str):
        yield case
        address = escape(case)
        yield f'<a href="{address}" title="{address}">{case}</a><img alt="{address}" src="{address}">'
    elif isinstance(case, dict) and isinstance(case.get("input"), str):
        if "base" in case:
            address = escape(case["input"])
            yield f'<a href="{address}">x</a><img src="{address}" srcset="{address} 2x"><iframe src="{address}">'
        elif case.get("doubleEscaped"):
            yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), case["input"])
        else:
            yield case["input"]


Element = tuple[str, list[tuple[str, str]]]


def _complaints(elements: Iterable[Element]) -> Iterator[str]:
    for name, attributes in elements:
        if name in _ELEMENTS or ":" in name:
            yield f"<{name}>"
        for attribute, value in attributes:
            if attribute == "class" and name in ("code", "pre", "span") and _CLASS_OF_CODE.fullmatch(value):
                continue
            if attribute.startswith("on") or attribute in _ATTRIBUTES or ":" in attribute:
                yield attribute
            elif attribute in _ADDRESSES:
                harmless = _HARMLESS_PICTURE if (name, attribute) == ("img", "src") else _HARMLESS_ADDRESS
                if not all(map(harmless.match, _addresses(attribute, value))):
                    yield f"{attribute}={value}"


def _addresses(attribute: str, value: str) -> list[str]:
    return [word for word in value.split() if not _SIZE.fullmatch(word)] if attribute == "srcset" else [value]


def _elements_of_lxml(html: str) -> Iterator[Element]:
    page = lxml.html.document_fromstring(f"<!DOCTYPE html><body><hr>{html}".encode("utf-8", "replace"))
    for element in page.iterfind("body//*"):
        yield str(element.tag), [(str(name), str(value)) for name, value in element.items()]


def _elements_of_tokens(html: str) -> list[Element]:
    reader = _TokenReader()
    try:
        reader.feed(html)
        reader.close()
    except AssertionError:  # how the standard library refuses a declaration it cannot read
        reader.elements.append(("declaration:", []))
    return reader.elements


class _TokenReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, [(name, value or "") for name, value in attrs]))

    def handle_comment(self, data: str) -> None:
        self.elements.append(("comment:", []))
