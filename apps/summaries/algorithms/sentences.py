"""Where the sentences of a text begin and end."""

import json
import re
from pathlib import Path

from apps.postings.algorithms.words.languages import language as rules_of
from apps.postings.algorithms.words.scripts import SPACELESS

MAX_TEXT_LENGTH = 200_000  # characters that are read; more than any article has
_MAX_WORD_LENGTH = 40  # characters read before a full stop

_CLOSING = "\"'”’»›)\\]}」』】）》〉"
_OPENING = "\"'“‘«‹„‚(\\[{「『【（《〈¿¡"
_MARKS = ".!?…؟۔।॥։።၊။៕"
_END = re.compile(
    rf"""
    (?P<wide>[。！？｡]++[。！？｡!?…]*+[{_CLOSING}]*+)    # ends a sentence wherever it stands
    | (?<![{_MARKS}])(?P<marks>[{_MARKS}]++)
        [{_CLOSING}“‘«]*+                             # German closes with what English opens with
        (?:[ \u00a0\u202f]»(?=\s|$))?+               # French leaves a space before it
        (?=\s|$|(?<=[!?])[{SPACELESS}])
    | \n\s*+                                          # so does a line, unless the next one carries on
    """,
    re.VERBOSE,
)
# All lengths are bounded: what is read once for each end of a sentence may not be the rest of the text.
_FOLLOWING = re.compile(rf"[\s{_OPENING}—–-]{{0,40}}+((\S)\w{{0,40}})")
_LAST_WORD = re.compile(r"[^\s()\[{\"'“‘«„/—–-]+$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)*[^\W\d_]")  # J. Smith, a.m., z.B, т.е
_ORDINAL = re.compile(r"\d{1,2}|[IVX]+")
_LETTER = re.compile(r"[^\W\d_]")
_HIRAGANA = re.compile("[ぁ-ゖ]")

# Words before a full stop that ends no sentence. They are spelt alike in so few languages with another meaning that
# one list does for all. Titles stand before names; the others may also end a sentence, and do before a stop word with
# a capital ("in the U.S. The"); what may also be a word of its own counts only before a number.
_WORDS = json.loads(Path(__file__).with_name("abbreviations.json").read_text("utf-8"))
_TITLES, _ABBREVIATIONS, _BEFORE_NUMBERS = (
    frozenset(_WORDS[name].split()) for name in ("titles", "others", "before_numbers")
)
_MAX_ABBREVIATION_LENGTH = 8  # characters
# Languages that write ordinals with a full stop: "am 3. Oktober".
_WITH_ORDINALS = frozenset(_WORDS["with_ordinals"].split())


def sentences(text: str, language: str = "") -> list[tuple[int, int]]:
    """The sentences of a text, as the first character of each and the one behind its last.

    A sentence ends at a mark that ends sentences, with the quotes and brackets that close behind it, if white space
    follows and then no small letter (CJK marks need neither); and at a line's end, unless the next line begins small.
    A full stop behind an abbreviation, an initial, or an ordinal of a language that writes them so, ends none. Thai,
    Lao and others that have no mark end theirs with the line. What has no letter belongs to what follows it.

    Parameters
    ----------
    text : str
        Without markup; the first 200,000 characters are read.
    language : str
        ISO 639-1; it decides about ordinals only.

    Examples
    --------
    >>> text = 'Mr. Smith paid $3.5 m. "Too much!" he wrote. The U.S. Senate agreed.'
    >>> [text[start:end] for start, end in sentences(text, "en")]
    ['Mr. Smith paid $3.5 m.', '"Too much!" he wrote.', 'The U.S. Senate agreed.']
    >>> text = "他说：“我们赢了！”总理很高兴。Apple公司也是"
    >>> [text[start:end] for start, end in sentences(text, "zh")]
    ['他说：“我们赢了！”', '总理很高兴。', 'Apple公司也是']
    """
    text = text[:MAX_TEXT_LENGTH]
    found: list[tuple[int, int]] = []
    start = seen = 0  # no letter stands between the two
    for match in _END.finditer(text):
        if _ends(text, match, language):
            if _LETTER.search(text, seen, match.end()):
                found.append(_trimmed(text, start, match.end()))
                start = match.end()
            seen = match.end()
    if _LETTER.search(text, start):
        found.append(_trimmed(text, start, len(text)))
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _ends(text: str, match: re.Match[str], language: str) -> bool:
    following = _FOLLOWING.match(text, match.end())
    if following is None:
        return True
    next_word, next_letter = following.groups()
    if match["wide"]:  # 「はい。」と言った is one
        return not (match[0][-1] in _CLOSING and _HIRAGANA.match(text, match.end()))
    if match["marks"] is None:
        return match[0].count("\n") > 1 or not next_letter.islower()
    if next_letter.islower():
        return False
    return match["marks"] != "." or not _is_short(text, match.start(), next_word, language)


def _is_short(text: str, stop: int, next_word: str, language: str) -> bool:
    """Whether the full stop at `stop` belongs to the word before it."""
    before = text[max(0, stop - _MAX_WORD_LENGTH) : stop]
    last = before[before.rfind(" ") + 1 :]
    if last.isalpha() and len(last) > _MAX_ABBREVIATION_LENGTH:
        return False  # spares most words what follows
    found = _LAST_WORD.search(last)
    if found is None:
        return False
    word = found[0].lower()
    if word in _TITLES or (word in _BEFORE_NUMBERS and next_word[0].isdigit()):
        return True
    if not (
        word in _ABBREVIATIONS
        or (_DOTTED.fullmatch(word) and (len(word) > 1 or found[0].isupper()))
        or (language in _WITH_ORDINALS and _ORDINAL.fullmatch(found[0]))
    ):
        return False
    return len(next_word) < 2 or next_word.lower() not in rules_of(language).stop_words
