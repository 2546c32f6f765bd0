"""The languages that a posting may be in, one bit for all that make the same terms of the same words."""

from apps.postings.algorithms.words.languages import base_code, read_alike

GROUPS = read_alike()  # who adds rules for a language has to prepare all searches anew: bits may move
EVERY = (1 << len(GROUPS)) - 1
ENGLISH = 0  # the group of English, and of what nobody knows the language of

_GROUP_OF = {code: number for number, group in enumerate(GROUPS) for code in group}


def group_of(code: str) -> int:
    """Which of GROUPS a language is in.

    >>> group_of("en-GB") == group_of("") == ENGLISH, group_of("de") == ENGLISH
    (True, False)
    """
    return _GROUP_OF[base_code(code)]
