"""Folding of letters that readers consider equal."""

import re
import unicodedata

# Marks that are dropped: on Latin, Greek and Cyrillic letters, Hebrew points, Arabic vowels. Those of the scripts of
# India and South East Asia are vowels, those of kana make other sounds: they stay.
_DROPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0640\u1dc0-\u1dff]"
)
# Letters that Unicode does not take apart; the last ones are written either way in Persian.
_UNDIVIDED = str.maketrans(
    dict(zip("ßæœøđðþłħŧıςيىك", "ss ae oe o d d th l h t i σ ی ی ک".split(" "), strict=True))  # noqa: SIM905
)
_ALIEN = re.compile(r"[\W_]")


def lowered(word: str, language: str) -> str:
    """The word in lower case and Unicode's compatible, composed form, still with its diacritics, as stemmers want it.

    >>> lowered("ＩＢＭ", "en"), lowered("ISPARTA", "tr"), lowered("ﬁnde", "de")
    ('ibm', 'ısparta', 'finde')
    """
    if language in ("tr", "az"):
        word = word.replace("I", "ı").replace("İ", "i")
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).lower())


def folded(word: str) -> str:
    """A lowered word without diacritics.

    >>> folded("château"), folded("łódź"), folded("ё"), folded("がっこう"), folded("한국")
    ('chateau', 'lodz', 'е', 'がっこう', '한국')
    """
    if word.isascii():
        return word
    plain = _DROPPED.sub("", unicodedata.normalize("NFKD", word)).translate(_UNDIVIDED)
    return unicodedata.normalize("NFC", plain)


def letters(word: str) -> str:
    """The word without signs that come with compatible forms (as the fraction slash of ½), and without joiners.

    >>> letters("1⁄2")
    '12'
    """
    if word.isascii():
        return word
    return _ALIEN.sub(lambda match: match[0] if unicodedata.category(match[0]) in ("Mn", "Mc") else "", word)
