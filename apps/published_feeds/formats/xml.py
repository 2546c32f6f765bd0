"""XML elements without the characters that XML cannot represent."""

from typing import Any

from lxml import etree

from apps.sources.formats.text import without_controls


def element(name: str, text: str = "", namespaces: Any = None, **attributes: str) -> etree._Element:
    made = etree.Element(name, nsmap=namespaces)
    for attribute, value in attributes.items():
        made.set(attribute, without_controls(value))
    made.text = without_controls(text) or None
    return made


def add(parent: etree._Element, name: str, text: str = "", **attributes: str) -> etree._Element:
    made = element(name, text, parent.nsmap, **attributes)
    parent.append(made)
    return made
