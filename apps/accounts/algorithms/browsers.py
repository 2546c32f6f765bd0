"""Names of browsers and systems from User-Agent headers."""

import json
from pathlib import Path

_NAMES = json.loads(Path(__file__).with_name("user-agents.json").read_text("utf-8"))  # by their marks
MAX_LENGTH = 60  # characters of an unknown name


def browser_named(user_agent: str) -> tuple[str, str]:
    """Browser and system of a User-Agent header; empty where unknown.

    >>> browser_named("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    ('Firefox', 'Linux')
    >>> browser_named("Wire/1.0")
    ('Wire/1.0', '')
    """
    # The first match counts: many headers contain the names of other browsers, too.
    browser, system = (
        next((name for mark, name in _NAMES[kind].items() if mark in user_agent), "")
        for kind in ("browsers", "systems")
    )
    return browser or (user_agent[:MAX_LENGTH] if not system else ""), system
