"""Cues in the words of a short text: requests to subscribe, names of photographers, links elsewhere, ..."""

import re

import re2

_CUES = {
    "c_promo": r"newsletter|sign up|subscribe|abonn|register|log ?in|anmeld|app store|google play|download|donat|"
    r"support us|join us|membership|\bfree trial\b|inbox|registr[ií]|suscr",
    "c_more": r"^(read|watch|listen|see|more|also|related|recommended|must read|don.t miss|next|previous|click|"
    r"lesen sie|mehr|lire aussi|à lire|leia|leggi|lee |ver |te puede|czytaj|les også|läs|lees|what to know|latest|"
    r"trending|popular|most|top stories|in pictures|photos|gallery|video)\b",
    "c_credit": r"getty|\breuters\b|\bap photo|associated press|\bafp\b|photo(graph)?( by|:|/)|foto:|image:|credit|"
    r"courtesy|shutterstock|©|\(photo|bild:|picture alliance|\bepa\b|imago|screenshot|file photo",
    "c_time": r"^(published|updated|posted|last updated|stand|aktualisiert|veröffentlicht)\b|\bmin(ute)? read\b|"
    r"\bago\b|\b\d{1,2}:\d\d\b|\b(19|20)\d\d\b.{0,30}$|comments?$",
    "c_share": r"\bshare\b|facebook|twitter|whatsapp|instagram|linkedin|\btweet\b|follow (us|him|her|me)|copy link|"
    r"e-?mail|teilen|compartir|partager|@\w+",
    "c_ad": r"^advertisement|^anzeige|^sponsored|^ad$|^publicidad|^werbung|story continues|continue reading|"
    r"article continues|affiliate|commission",
    "c_author": r"\bis an? .{0,60}(reporter|writer|editor|author|correspondent|columnist|journalist|professor|fellow|"
    r"director|founder|contributor)|\b(he|she|they) (is|writes|covers|has written)\b|^by [a-z]|^about the author|"
    r"contributed (to|reporting)|reporting by|editing by|staff writer|the views expressed|opinions? expressed|"
    r"can be reached|you can follow",
    "c_legal": r"all rights reserved|alle rechte|copyright|terms of (use|service)|privacy|"
    r"may not be (published|reproduced)|cookie|datenschutz|\bgdpr\b|impressum|our standards|data ?privacy|consent|"
    r"extern(er|en|al|e)? (inhalt|content)|personenbezogen",
    "c_comment": r"\bcomments?\b|\breply\b|\breplies\b|kommentar|join the (conversation|discussion)|leave a|log in to",
    "c_correct": r"^(correction|editor.s note|note:|update:|this (article|story) (was|has been|originally|first|"
    r"appeared))|originally (published|appeared)",
}
NAMES = tuple(_CUES)
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


def _compiled() -> "re2.Set":
    options = re2.Options()
    options.case_sensitive = False
    patterns = re2.Set.SearchSet(options)
    for pattern in _CUES.values():
        patterns.Add(pattern)
    patterns.Compile()
    return patterns


_ALL = _compiled()


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
