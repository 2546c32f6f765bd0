"""Addresses from outside, as other people's programs may open them."""

import re

_ON_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)


def on_web(address: str) -> str:
    """The address if it leads to the web, else "": a program would run or open what it names on its own machine.

    >>> on_web("https://news.example/1"), on_web("javascript:alert(1)"), on_web("file:///etc/passwd")
    ('https://news.example/1', '', '')
    """
    return address if _ON_WEB.match(address) else ""
