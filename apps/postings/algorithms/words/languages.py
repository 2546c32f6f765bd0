"""Languages: their stemmers, stop words and apostrophes, and which one a text is in."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import Stemmer

from apps.postings.algorithms.words.detection import scores
from apps.postings.algorithms.words.folding import folded, lowered
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER, script_of

_TABLES = json.loads(Path(__file__).with_name("languages.json").read_text("utf-8"))
_STEMMERS: Mapping[str, str] = _TABLES["stemmers"]
_ALIASES: Mapping[str, str] = _TABLES["aliases"]
# The languages written in a script, the commonest first; every other one is written in Latin letters.
_OF_SCRIPT: Mapping[str, tuple[str, ...]] = {
    script: tuple(codes.split()) for script, codes in _TABLES["scripts"].items()
}
# English has the list that the measured figures were reached with. The others are short lists of our own for the
# languages of most feeds: articles, pronouns, prepositions, auxiliaries. They spare the index its longest rows; a
# language without one loses nothing but speed, since such words weigh next to nothing.
STOP_WORDS: Mapping[str, str] = _TABLES["stop_words"]
_NEVER_LATIN = frozenset(code for codes in _OF_SCRIPT.values() for code in codes) - {"sr"}

# Languages in which what stands before an apostrophe is a word of its own (l'élection), and those in which an ending
# stands behind it (Türkiye'nin). In all others the apostrophe is a letter that is left out, except English 's.
_ELIDING = frozenset({"fr", "it", "ca", "oc", "co", "gl", "eu"})
_ENDING = frozenset({"tr", "az"})
_WITHOUT_ACCENTS = frozenset({"en"})  # borrowed letters hide a word's ending from the stemmer: beyoncé, beyonce

_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_ASCII_LETTER = re.compile("[A-Za-z]")
_WORD = re.compile(r"[^\W\d_]+")
_MIN_PROSE = 12  # words; fewer may be a title, which needs no stop words
_MIN_STOP_WORDS = 1 / 8  # of the words of prose in the language

_OTHERS = "af br bs cy fo gd hr is jv la lb lv mg mi ms mt rw sk sl so sq sw tl uz vi zu"  # of Latin script
_KNOWN = frozenset([*_STEMMERS, *_NEVER_LATIN, *_ELIDING, *_ENDING, *_OTHERS.split()])
_LATIN = _KNOWN - _NEVER_LATIN

# Natural logarithm of how much likelier a text is in one of the languages of most feeds (those with stop words), before
# a letter of it is read. On titles of English feeds it takes 3 wrong languages of 100 down to 1 of 200.
_HEAD_START = 2.0


class Language(NamedTuple):
    """How words of one language become terms."""

    code: str  # ISO 639-1; empty for unknown
    stop_words: frozenset[str]  # lowered, with their diacritics
    elides: bool  # an apostrophe parts two words
    ends: bool  # an apostrophe begins an ending
    stemmer: Stemmer.Stemmer | None

    def stem(self, word: str) -> str:
        """The stem of a lowered word, without diacritics; stemmers of most languages read them first."""
        read = folded(word) if self.code in _WITHOUT_ACCENTS else word
        return folded(self.stemmer.stemWord(read) if self.stemmer else read)


def language(code: str) -> Language:
    """The rules of a language by its code, such as "en", "en-GB" or "" for unknown; nothing is refused.

    Languages without a stemmer of Snowball's keep their words as they are.

    >>> language("en-GB").stem("elections"), language("pt_BR").code, language("tlh").stem("nuqneH")
    ('elect', 'pt', 'nuqneH')
    """
    return _language(base_code(code))


@lru_cache(1024)
def base_code(code: str) -> str:
    """ISO 639-1 of what feeds declare, "und" for a language of which nothing is known here, "" for no language.

    >>> base_code(" EN_us"), base_code("iw"), base_code("x-klingon"), base_code("")
    ('en', 'he', 'und', '')
    """
    short = code.replace("_", "-").partition("-")[0].strip().lower()
    short = _ALIASES.get(short, short)
    return short if short in _KNOWN or not short else "und"


@cache
def _language(code: str) -> Language:
    algorithm = _STEMMERS.get(code)
    return Language(
        code,
        frozenset(STOP_WORDS.get(code, "").split()),
        code in _ELIDING,
        code in _ENDING,
        Stemmer.Stemmer(algorithm, 0) if algorithm else None,  # no cache of its own: terms are remembered already
    )


@lru_cache(4096)
def language_of_script(script: str, declared: str) -> Language:
    """The language whose rules hold for a word of this script in a text of the declared language.

    Scripts decide first: Latin words in Russian or Chinese texts, and in texts of no known language, are taken for
    English, Cyrillic words in English texts for Russian.

    >>> [language_of_script(*pair).code for pair in (("latin", "zh"), ("cyrillic", "en"), ("cyrillic", "uk"))]
    ['en', 'ru', 'uk']
    """
    base = language(declared)
    if script == "latin":
        return language("en") if not base.code or base.code in _NEVER_LATIN else base
    written = _OF_SCRIPT[script]
    return base if base.code in written else language(written[0])


@cache
def read_alike() -> tuple[tuple[str, ...], ...]:
    """All codes that `language_of` may give, in groups: texts in languages of one group have the same terms.

    >>> groups = read_alike()
    >>> len(groups), [group[:3] for group in groups if "zh" in group or "sk" in group]
    (36, [('', 'ar', 'el'), ('af', 'br', 'bs')])
    """
    groups: dict[tuple[object, ...], list[str]] = {}
    for code in ["", *sorted({*_KNOWN, "und"})]:
        rules = [language_of_script(script, code) for script in ("latin", *_OF_SCRIPT)]
        rules_by_script = [rule.code if rule.stemmer or rule.stop_words or rule.ends else "" for rule in rules]
        groups.setdefault((language(code).elides, *rules_by_script), []).append(code)
    return tuple(tuple(codes) for codes in groups.values())


def language_of(text: str, declared: str = "") -> str:
    """The code of the language of a text: by its script, then what its feed declares, then by its letters.

    Prose without the stop words of the declared language is in another one.

    Parameters
    ----------
    text : str
        Its first 400 characters count: more takes longer without a better result.
    declared : str
        What the feed says, as "en-us"; believed where the script allows it.

    Returns
    -------
    str
        ISO 639-1, "" where the text has no letters and nothing is declared.

    Examples
    --------
    >>> language_of("新しい首相が選ばれた"), language_of("总理访问柏林", "en"), language_of("Der Bundestag hat gewählt")
    ('ja', 'zh', 'de')
    >>> language_of("Le Monde", "fr-FR"), language_of("42"), language_of("Президент підписав закон", "uk")
    ('fr', '', 'uk')
    """
    piece = text[:400]
    base = base_code(declared)
    script = _main_script(piece)
    if script == "":
        return base
    if script == "han" and any(script_of(character) == "kana" for character in piece):
        return "ja"
    possible = _OF_SCRIPT.get(script, ())
    if base and (base in possible if possible else base not in _NEVER_LATIN):
        return base if _may_be(piece, base) else _detected(piece, possible)
    if len(possible) == 1 or script in ("han", "hangul"):
        return possible[0]
    return _detected(piece, possible)


def _may_be(text: str, code: str) -> bool:
    """Whether a text has stop words enough, or is too short to say, or nothing is known of the language."""
    stop_words, words = language(code).stop_words, _WORD.findall(lowered(text, code))
    found = sum(word in stop_words for word in words)
    return not stop_words or len(words) < _MIN_PROSE or found >= _MIN_STOP_WORDS * len(words)


def _main_script(text: str) -> str:
    """The script of most letters; a character of a spaceless script counts as three, since it says about as much."""
    plain = text.encode("ascii", "ignore")
    if len(plain) == len(text):
        return "latin" if _ASCII_LETTER.search(text) else ""
    if len(plain.translate(None, _NO_LETTERS)) > 3 * (len(text) - len(plain)):
        return "latin"  # a majority in any case
    counts: dict[str, int] = {}
    for character, times in Counter(text).items():  # a tenth as many as there are characters
        script, worth = _letter(character)
        if worth:
            counts[script] = counts.get(script, 0) + times * worth
    return max(counts, key=lambda script: counts[script]) if counts else ""


@lru_cache(8192)
def _letter(character: str) -> tuple[str, int]:
    """The script of a character and how many letters it counts for; none if it is no letter."""
    if not character.isalpha():
        return "", 0
    return script_of(character), 3 if SPACELESS_CHARACTER.match(character) else 1


def _detected(text: str, possible: tuple[str, ...]) -> str:
    """Detect among the languages known here: a similar rarer one would only lose the text its stemmer."""
    likely = {
        code: score + (_HEAD_START if code in STOP_WORDS else 0.0)
        for code, score in scores(text).items()
        if (code in possible if possible else code in _LATIN)
    }
    return max(likely, key=lambda code: likely[code], default=possible[0] if possible else "")


# --- general ----------------------------------------------------------------------------------------------------------
DOCUMENTS = 1_000  # as which each language counts
TABLE = Path(__file__).with_name("general-202611.json")


def general_counts(language: str) -> Mapping[str, int]:
    """How many of 1,000 documents of a language hold each term; rare terms, and all of unknown languages, are missing.

    >>> general_counts("en-GB")["year"] > 100, "volcano" in general_counts("en"), general_counts("tlh")
    (True, False, {})
    """
    return _tables().get(base_code(language), {})


@cache
def _tables() -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for language, by_number in json.loads(TABLE.read_text(encoding="utf-8")).items():
        found[language] = {term: int(number) for number, terms in by_number.items() for term in terms.split()}
    return found
