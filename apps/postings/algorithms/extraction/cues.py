"""Cues in the words of a short text: requests to subscribe, names of photographers, links elsewhere, ..."""

from apps.postings.algorithms.extraction.words import EXPRESSIONS, PATTERNS, compiled

NAMES = tuple(PATTERNS["texts"])
_MAX_LENGTH = 260  # characters; of longer texts the beginning and the end are read
_HEAD, _TAIL = 160, 100

_ALL = compiled("texts", case_sensitive=False)


def cues_of(text: str) -> list[int]:
    """The places in `NAMES` of what the beginning and the end of a text give away.

    >>> [NAMES[place] for place in cues_of("Subscribe to our newsletter and follow us on Facebook")]
    ['c_promo', 'c_share']
    """
    shortened = text if len(text) <= _MAX_LENGTH else f"{text[:_HEAD]} {text[-_TAIL:]}"
    return sorted(_ALL.Match(shortened) or ())


def leads_elsewhere(text: str) -> bool:
    """Whether a line begins like one that leads to another article.

    >>> leads_elsewhere("READ MORE: Bridge to stay open"), leads_elsewhere("Readers wrote to us")
    (True, False)
    """
    return EXPRESSIONS["leads_elsewhere"].match(text) is not None
