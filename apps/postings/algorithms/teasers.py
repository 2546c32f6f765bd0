"""Whether what a feed says of a posting is all there is, or is meant to make people visit its page."""

import re

FULL_LENGTH = 1_500  # characters; a text so long is an article
SHORT = 400  # characters; a text so short is none, unless it says that it is
_CUT = re.compile(
    r"(?:…|\.\.\.|\[(?:…|\.\.\.|&hellip;)\]|\b(?:read (?:more|on|the (?:full|whole|rest))|continue reading|weiterlesen|"
    r"lire la suite|leer más|leggi tutto|appeared first on|mehr lesen|阅读全文|続きを読む)\b.{0,80})\s*$",
    re.IGNORECASE | re.DOTALL,
)


def is_teaser(text: str) -> bool:
    """Whether a posting's plain text is probably only the beginning, or a summary, of what stands on its page.

    >>> is_teaser("The council has decided. Read more"), is_teaser("A short note. " * 200)
    (True, False)
    """
    if len(text) >= FULL_LENGTH:
        return False
    return len(text) < SHORT or _CUT.search(text[-200:]) is not None or text.count("\n\n") < 2
