"""Groups of languages with the same analysis, one bit each."""

from apps.postings.algorithms.words.languages import base_code, read_alike

GROUPS = read_alike()  # new rules for a language may move bits: prepare all searches again then
EVERY = (1 << len(GROUPS)) - 1
ENGLISH = 0  # the group of English, and of unknown languages

_GROUP_OF = {code: number for number, group in enumerate(GROUPS) for code in group}


def group_of(code: str) -> int:
    """Which of GROUPS a language is in.

    >>> group_of("en-GB") == group_of("") == ENGLISH, group_of("de") == ENGLISH
    (True, False)
    """
    return _GROUP_OF[base_code(code)]
