"""The outline of a story: the report that stands for all, what each report adds, and the names in several of them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from apps.postings.algorithms.segments import ADDRESSES
from apps.postings.algorithms.words import STOP_MARK, sequence
from apps.postings.algorithms.words.languages import base_code
from apps.postings.algorithms.words.scripts import SPACELESS
from apps.stories.algorithms.features import CAPITALISED, features
from apps.summaries.algorithms.datelines import dateline_end
from apps.trending.algorithms.stop_words import words_of

ADDED = 6  # names and numbers that are shown of a report
NAMES = 8  # of a story

# Runs of words that may begin with a capital, and numbers; those of Chinese stand between characters.
_WORD = rf"[^\W\d_a-z{SPACELESS}](?:[^\W{SPACELESS}]|['’-])*[^\W_{SPACELESS}]"
_NAMES = re.compile(rf"(?<![^\W{SPACELESS}])(?:{_WORD}(?: {_WORD})*|\d[\d.,:]*\d%?|\d%?)")
_COUNTED = re.compile(rf"[ \xa0]([^\W\d_{SPACELESS}]{{2,}})(?![:/])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LOWER_CASE = re.compile(r"\b[^\W\d_]+")


class Outline(NamedTuple):
    neutral: int  # index of the report closest to all others
    added: tuple[tuple[str, ...], ...]  # names and numbers that no earlier report has, of each report
    names: tuple[str, ...]  # of several reports, the most frequent first


def outline_of(reports: Sequence[tuple[str, str]], language: str = "") -> Outline:
    """The outline of a story from its reports.

    A report's closeness is the mean share of terms that its title has in common with the others' titles and texts
    (cosine of term sets). There is no tagger: names are runs of capitalised words that do not consist of stop words,
    days and months, nor of one word that has its capital only at the beginning of sentences and is elsewhere in lower
    case. Scripts without capitals have none. Numbers have the word that they count.

    Parameters
    ----------
    reports : (n_reports,) sequence of (title, text)
        In the order of time; at least one.

    Examples
    --------
    >>> reports = [("Flood!", "Water."), ("Storm floods Lisbon", "A storm."), ("Lisbon storm hurts 12 people", "")]
    >>> found = outline_of(reports, "en")
    >>> found.neutral, found.added[2], found.names
    (1, ('12 people',), ('Lisbon',))
    """
    terms = [set(features(title, text, language).terms.tolist()) for title, text in reports]
    titles = [set(features(title, "", language).terms.tolist()) for title, _ in reports]
    closeness = [
        np.mean([len(title & other) / max(len(title) * len(other), 1) ** 0.5 for other in terms[:at] + terms[at + 1 :]])
        if len(reports) > 1
        else 1.0
        for at, title in enumerate(titles)
    ]
    common = _common(reports)
    added, counts, before = [], Counter[str](), ""
    for title, text in reports:
        own = text[dateline_end(text) :]
        runs = [name for name in dict.fromkeys(_names(f"{title}. {own}", language)) if name.lower() not in common]
        found = [name for name in runs if _says_something(name, language)]
        added.append(tuple(name for name in found if _key(name) not in before)[:ADDED])
        counts.update(name for name in found if not name[0].isdigit())
        before += f" {title} {text}".casefold()
    names = tuple(name for name, count in counts.most_common(NAMES) if count > 1)
    return Outline(int(np.argmax(closeness)), tuple(added), names)


def _common(reports: Sequence[tuple[str, str]]) -> set[str]:
    """Words in lower case that no text has with a capital within a sentence; addresses do not count."""
    texts = [ADDRESSES.sub(" ", text) for report in reports for text in report]
    lower = {word for text in texts for word in _LOWER_CASE.findall(text) if word.islower()}
    return lower - {word.lower() for text in texts[1::2] for word in CAPITALISED.findall(text) if word[0].isupper()}


def _names(text: str, language: str) -> Iterator[str]:
    for match in _NAMES.finditer(text):
        if match[0][0].isdecimal():
            yield match[0] + _counted(text, match, language)
            continue
        for is_name, words in groupby(match[0].split(" "), lambda word: word[0].isupper()):
            if is_name:
                yield " ".join(words).removesuffix("'s").removesuffix("’s")


def _counted(text: str, number: re.Match[str], language: str) -> str:
    """The word in lower case behind a number, with a space before it; "" behind a year."""
    word = _COUNTED.match(text, number.end())
    is_year = _YEAR.fullmatch(number[0]) is not None
    return f" {word[1]}" if word and word[1].islower() and not is_year and _says_something(word[1], language) else ""


def _key(name: str) -> str:
    """What no earlier report may have: of a number with what it counts the number."""
    return name.partition(" ")[0] if name[0].isdecimal() else name.casefold()


def _says_something(name: str, language: str) -> bool:
    is_day = name.casefold() in words_of("calendar", base_code(language))
    return not is_day and any(item[0] != STOP_MARK for item in sequence(name, language))
