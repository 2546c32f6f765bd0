"""The differences between two versions of a text for display."""

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

MAX_WORDS = 4_000  # of either text: the comparison can be quadratic

# A word with its following space; scripts without spaces are compared by character.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PIECES = re.compile(rf"[{_UNSPACED}]\s*|[^\s{_UNSPACED}]+\s*|\s+")


class TextChange(NamedTuple):
    kind: Literal["same", "removed", "added"]
    text: str


def word_changes(before: str, after: str) -> tuple[TextChange, ...] | None:
    """The pieces of both texts in reading order; None if one of them is too long.

    Without the added pieces they are `before`, without the removed ones `after`, with normalized white space.

    >>> [(change.kind, change.text) for change in word_changes("Five people hurt", "Six people hurt")]
    [('removed', 'Five '), ('added', 'Six '), ('same', 'people hurt')]
    """
    old, new = (_PIECES.findall(" ".join(text.split())) for text in (before, after))
    if max(len(old), len(new)) > MAX_WORDS:
        return None
    changes: list[TextChange] = []
    for operation, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new, False).get_opcodes():
        if operation == "equal":
            changes.append(TextChange("same", "".join(old[old_start:old_end])))
            continue
        if old_end > old_start:
            changes.append(TextChange("removed", "".join(old[old_start:old_end])))
        if new_end > new_start:
            changes.append(TextChange("added", "".join(new[new_start:new_end])))
    return tuple(changes)
