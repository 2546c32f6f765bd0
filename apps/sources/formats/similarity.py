"""Similarity of titles, independent of punctuation, case and width of letters."""

import unicodedata
from collections import Counter
from itertools import pairwise

SHOWN = 50  # titles of a proposal


def plain_letters(text: str) -> str:
    """The letters and digits of a text in one case, words apart by one space.

    >>> plain_letters("  “Brücke” bleibt — doch!")
    'brücke bleibt doch'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(each if each.isalnum() else " " for each in folded).split())


def likeness(one: str, other: str) -> float:
    """From 0 to 1, how many pairs of neighbouring letters two texts share: Dice's coefficient. Both in plain letters.

    >>> likeness("night", "nacht"), likeness("tea", "tea"), likeness("tea", "")
    (0.25, 1.0, 0.0)
    """
    if one == other:
        return 1.0 if one else 0.0
    pairs, others = Counter(pairwise(one)), Counter(pairwise(other))
    both = pairs.total() + others.total()
    return 2 * (pairs & others).total() / both if both else 0.0
