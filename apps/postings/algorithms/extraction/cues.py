"""Cues in the words of a short text: requests to subscribe, names of photographers, links elsewhere, ..."""

import re

from apps.postings.algorithms.extraction.words import PATTERNS, compiled

NAMES = tuple(PATTERNS["texts"])
_MAX_LENGTH = 260  # characters; of longer texts the beginning and the end are read
_HEAD, _TAIL = 160, 100

# The beginning of a line that leads to another article, in the languages of many publishers.
_LEADS_ELSEWHERE = re.compile(
    r"\W*(?:read (?:more|next|also|the full)|see (?:more|also)|more(?: on| from|:| stories| news)|related|"
    r"also (?:read|see|on)|recommended|don.?t miss|must.read|watch(?: more| now| live|:)|listen(?: to| now|:)|"
    r"click here|tap here|keep reading|continue reading|you (?:may|might) (?:also )?like|what to read|up next|next:|"
    r"previous:|trending|most (?:read|popular)|lesen sie|mehr (?:zum|zu |dazu|:)|auch interessant|lire aussi|à lire|"
    r"lisez|voir aussi|leia (?:mais|também)|saiba mais|veja (?:mais|também)|lee (?:también|más)|te puede|leer más|"
    r"ver más|leggi anche|czytaj|zobacz|les (?:også|mer)|läs (?:också|mer)|lees (?:ook|meer)|çok okunan|читайте|"
    r"смотрите|подробнее|閱讀更多|相关阅读|延伸阅读|関連)",
    re.IGNORECASE,
)
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
    return _LEADS_ELSEWHERE.match(text) is not None
