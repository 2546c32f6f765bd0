"""Sentences of an extracted text that are not of its report: credits, captions, share lines, notes of the publisher."""

import re
import tomllib
from pathlib import Path

MAX_LENGTH = 300  # characters; longer sentences belong to the report
MIN_SENTENCES = 3  # that end with a mark, so that lines without one can be left out

_PATTERNS = tomllib.loads(Path(__file__).with_name("asides.toml").read_text("utf-8"))
_BEGINNING, _END = (re.compile(_PATTERNS[name], re.VERBOSE | re.IGNORECASE) for name in ("beginning", "end"))
MAX_END_LENGTH = 100  # characters
_MARK = re.compile(r"[.!?…؟۔।॥။។。！？｡][\s\"'”’»›)\]」』】）》〉]*$")


def is_aside(sentence: str) -> bool:
    """Whether a sentence is a credit, a caption, a byline or a note of the publisher, by how it begins or ends.

    >>> [is_aside(each) for each in ("Photograph: Jane Doe/Reuters", "Read more: Storm hits Rome", "图为总理在柏林。")]
    [True, True, True]
    >>> is_aside("Photographs of the storm show a harbour."), is_aside("Sources think that the mayor slept.")
    (False, False)
    """
    if len(sentence) > MAX_LENGTH:
        return False
    return is_caption(sentence) or _BEGINNING.match(sentence.lstrip("\"'“‘([（【- •*")) is not None


def is_caption(line: str) -> bool:
    """Whether a line ends with a credit, so that all its sentences are a caption.

    >>> is_caption("The bridge on Monday. Cars queue. Jane Doe/Getty Images")
    True
    """
    return len(line) <= MAX_LENGTH and _END.search(line[-MAX_END_LENGTH:]) is not None


def ends_with_mark(sentence: str) -> bool:
    """Whether a sentence ends as sentences do; headings, captions and lists often do not.

    >>> ends_with_mark("He answered “no.”"), ends_with_mark("What we know"), ends_with_mark("他说：“不。”")
    (True, False, True)
    """
    return _MARK.search(sentence[-MAX_END_LENGTH:]) is not None
