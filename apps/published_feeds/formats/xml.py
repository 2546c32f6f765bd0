"""XML elements without the characters that XML cannot represent."""

import re
from typing import Any

from lxml import etree

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def writable(text: str) -> str:
    """
    >>> writable("a\\x00b\\ud800\\tc")
    'ab\\tc'
    """
    return _UNWRITABLE.sub("", text)


def element(name: str, text: str = "", namespaces: Any = None, **attributes: str) -> etree._Element:
    made = etree.Element(name, nsmap=namespaces)
    for attribute, value in attributes.items():
        made.set(attribute, writable(value))
    made.text = writable(text) or None
    return made


def add(parent: etree._Element, name: str, text: str = "", **attributes: str) -> etree._Element:
    made = element(name, text, parent.nsmap, **attributes)
    parent.append(made)
    return made
