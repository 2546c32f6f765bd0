"""The address of a shared page, which programs pass by itself or within a text."""

import re

MAX_ADDRESS_LENGTH = 2_000  # characters, of the forms that take it
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_BEHIND = ".,;:!?'’”»"  # closes a sentence, not an address


def address_in(*texts: str) -> str:
    """The first address of the web, "" without one.

    >>> address_in("", "Read this (https://en.example/Rain_(film)), please!"), address_in("javascript:x", "none")
    ('https://en.example/Rain_(film)', '')
    """
    for text in texts:
        if found := _ADDRESS.search(text):
            address = found[0].rstrip(_BEHIND)
            while address.endswith(")") and address.count(")") > address.count("("):
                address = address[:-1].rstrip(_BEHIND)
            return address if len(address) <= MAX_ADDRESS_LENGTH else ""
    return ""
