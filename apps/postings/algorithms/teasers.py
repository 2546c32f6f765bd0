"""Teasers in feeds, as opposed to the full text of the page."""

import re
from html import unescape

FULL_LENGTH = 1_500  # characters; longer texts are articles
MAX_WORDS = 80  # characters of a title made of them
SHORT = 400  # characters; shorter texts are teasers
_CUT = re.compile(
    r"(?:…|\.\.\.|\[(?:…|\.\.\.|&hellip;)\]|\b(?:read (?:more|on|the (?:full|whole|rest))|continue reading|weiterlesen|"
    r"lire la suite|leer más|leggi tutto|appeared first on|mehr lesen|阅读全文|続きを読む)\b.{0,80})\s*$",
    re.IGNORECASE | re.DOTALL,
)


def is_teaser(text: str) -> bool:
    """Whether a posting's plain text is probably only the beginning or a summary of the article on its page.

    >>> is_teaser("The council has decided. Read more"), is_teaser("A short note. " * 200)
    (True, False)
    """
    if len(text) >= FULL_LENGTH:
        return False
    return len(text) < SHORT or _CUT.search(text[-200:]) is not None or text.count("\n\n") < 2


def first_words(text: str) -> str:
    """The beginning of a text in the place of a title.

    >>> first_words("So it goes. " * 10)
    'So it goes. So it goes. So it goes. So it goes. So it goes. So it goes. So it…'
    """
    line = " ".join(text[: 4 * MAX_WORDS].split())
    if len(line) <= MAX_WORDS:
        return line
    end = line.rfind(" ", MAX_WORDS // 2, MAX_WORDS)
    return f"{line[: end if end > 0 else MAX_WORDS - 1]}…"


_HEADING = re.compile(r"\s*<h([1-6])[^>]*>(.*?)</h\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_LETTERS = re.compile(r"[^\W_]+")


def without_title(html: str, title: str) -> str:
    """An article's markup without a heading at its beginning that only repeats the title.

    >>> without_title("<h2>The <em>bridge</em> stays</h2><p>It does.</p>", "The Bridge stays")
    '<p>It does.</p>'
    """
    found = _HEADING.match(html)
    if found is None or _letters(unescape(_TAG.sub("", found[2]))) != _letters(title):
        return html
    return html[found.end() :]


def heading_of(title: str, html: str) -> str:
    """An article's title, or else the first words of its markup."""
    return title or first_words(unescape(_TAG.sub(" ", html[: 50 * MAX_WORDS])))


def _letters(text: str) -> list[str]:
    return _LETTERS.findall(text.casefold())
