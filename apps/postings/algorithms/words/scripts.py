"""Which script a word is written in, and how a text falls into words."""

import re
import tomllib
import unicodedata
from functools import cache
from itertools import chain
from pathlib import Path

PLANES_WITH_MARKS = (0, 1, 14)  # of Unicode's 17: each process that reads words scans them once
_SPOKEN_MARKS = "\u00ad\u200c\u200d"  # soft hyphen and joiners: inside a word, and no part of it


@cache
def _marks() -> str:
    """The combining marks as a part of a character class: `\\w` knows none, and Hindi would fall apart at each."""
    runs: list[list[int]] = []
    for code in chain.from_iterable(range(plane << 16, (plane + 1) << 16) for plane in PLANES_WITH_MARKS):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" if first < last else chr(first) for first, last in runs)


_TABLES = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text("utf-8"))
SPACELESS = "".join((_TABLES["spaceless"] | _TABLES["spelling"]).values())

ASCII_WORDS = re.compile(r"[A-Za-z0-9]++(?:'[A-Za-z0-9]++)?")
SPACELESS_CHARACTER = re.compile(f"[{SPACELESS}]")

_SCRIPTS = _TABLES["spaceless"] | _TABLES["spaced"]
_SCRIPT = re.compile("|".join(f"(?P<{name}>[{characters}])" for name, characters in _SCRIPTS.items()))


@cache
def words_and_characters(*, elided: bool) -> re.Pattern[str]:
    """Words and spaceless characters of every script; `elided` words end before an apostrophe.

    It is compiled when it is needed: that takes a tenth of a second, and most processes read no words.
    """
    marks = _marks()
    inner = rf"(?:[^\W_{SPACELESS}]|[{marks}{_SPOKEN_MARKS}])"
    word = rf"[^\W_{SPACELESS}]{inner}*+"
    # One character of a spaceless script with what belongs on it: marks, vowel and final letters of decomposed Hangul.
    character = rf"(?:(?=\w)[{SPACELESS}])[{marks}\u1160-\u11ff\uff9e\uff9f]*+"
    ascii_word = r"[A-Za-z0-9]++(?!['\x80-\U0010ffff])"  # by far the most words, and four times as fast
    apostrophe = "" if elided else rf"(?:['’]{inner}++)?+"
    return re.compile(rf"{ascii_word}|{word}{apostrophe}|{character}")


def script_of(word: str) -> str:
    """The script of a word's first character that has one; "latin" without any (as digits have none).

    >>> [script_of(word) for word in ("Zürich", "Київ", "東京", "ポスト", "2024")]
    ['latin', 'cyrillic', 'han', 'kana', 'latin']
    """
    if word.isascii():
        return "latin"
    match = _SCRIPT.search(word)
    return match.lastgroup or "latin" if match else "latin"
