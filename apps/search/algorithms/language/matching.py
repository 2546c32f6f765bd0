"""Matching of names in filters."""

import re

from apps.postings.algorithms.words.folding import folded, lowered

_NAME_WORD = re.compile(r"[^\W_]+")


def names_match(value: str, name: str) -> bool:
    """Whether the words of the value are adjacent in the name, the last of them possibly as a prefix.

    Case, diacritics and signs are ignored. A value without letters matches no name.

    >>> names_match("guard", "The Guardian"), names_match("Süd", "Suddeutsche Zeitung"), names_match("art", "Party")
    (True, True, False)
    """
    looked_for, words = name_words(value), name_words(name)
    length = len(looked_for)
    return length > 0 and any(
        words[start : start + length - 1] == looked_for[:-1] and words[start + length - 1].startswith(looked_for[-1])
        for start in range(len(words) - length + 1)
    )


def name_words(name: str) -> list[str]:
    """
    >>> name_words("Le Monde – Économie"), name_words("www.bbc.co.uk")
    (['le', 'monde', 'economie'], ['www', 'bbc', 'co', 'uk'])
    """
    return _NAME_WORD.findall(folded(lowered(name, "")))
