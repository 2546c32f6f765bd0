"""Which script a word is written in, and how a text falls into words."""

import re
import unicodedata
from functools import cache
from itertools import chain

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


# Scripts that put no space between words. Korean does, but its particles stick to the words.
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
_BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
_THAI_LAO = "\u0e01-\u0e5b\u0e81-\u0edf"
_MYANMAR_KHMER = "\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f\u1780-\u17d3\u17d7-\u17dd"
SPACELESS = _HAN + _KANA + _HANGUL + _BOPOMOFO + _THAI_LAO + _MYANMAR_KHMER

ASCII_WORDS = re.compile(r"[A-Za-z0-9]++(?:'[A-Za-z0-9]++)?")
SPACELESS_CHARACTER = re.compile(f"[{SPACELESS}]")

_SCRIPTS = {
    "cyrillic": "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufefe",
    "armenian": "\u0530-\u058f",
    "hebrew": "\u0590-\u05ff\ufb1d-\ufb4f",
    "devanagari": "\u0900-\u097f",
    "tamil": "\u0b80-\u0bff",
    "han": _HAN,
    "kana": _KANA,
    "hangul": _HANGUL,
    "thai": "\u0e01-\u0e5b",
    "lao": "\u0e81-\u0edf",
    "myanmar": "\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f",
    "khmer": "\u1780-\u17dd",
}
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
