"""The outline of a story: the report that stands for all, what each report adds, and the names in several of them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.postings.algorithms.words import STOP_MARK, sequence
from apps.stories.algorithms.features import features

ADDED = 6  # names and numbers that are shown of a report
NAMES = 8  # of a story

# Runs of capitalised words, and numbers with their units.
_NAMES = re.compile(r"(?<!\w)(?:[^\W\d_a-z][\w'’-]*[^\W_](?: [^\W\d_a-z][\w'’-]*[^\W_])*|\d[\d.,:]*\d%?|\d%?)")


@dataclass(frozen=True, slots=True)
class Outline:
    neutral: int  # index of the report closest to all others
    added: tuple[tuple[str, ...], ...]  # names and numbers that no earlier report has, of each report
    names: tuple[str, ...]  # of several reports, the most frequent first


def outline_of(reports: Sequence[tuple[str, str]], language: str = "") -> Outline:
    """The outline of a story from its reports.

    A report's closeness is the mean share of terms that its title has in common with the others' titles and texts
    (cosine of term sets). There is no tagger: names are runs of capitalised words that do not consist of stop words.

    Parameters
    ----------
    reports : (n_reports,) sequence of (title, text)
        In the order of time; at least one.

    Examples
    --------
    >>> reports = [("Flood!", "Water."), ("Storm floods Lisbon", "A storm."), ("Lisbon storm hurts 12", "")]
    >>> found = outline_of(reports, "en")
    >>> found.neutral, found.added[2], found.names
    (1, ('12',), ('Lisbon',))
    """
    terms = [set(features(title, text, language).terms.tolist()) for title, text in reports]
    titles = [set(features(title, "", language).terms.tolist()) for title, _ in reports]
    closeness = [
        np.mean([len(title & other) / max(len(title) * len(other), 1) ** 0.5 for other in terms[:at] + terms[at + 1 :]])
        if len(reports) > 1
        else 1.0
        for at, title in enumerate(titles)
    ]
    added, counts, before = [], Counter[str](), ""
    for title, text in reports:
        found = [name for name in dict.fromkeys(_NAMES.findall(f"{title}. {text}")) if _says_something(name, language)]
        added.append(tuple(name for name in found if name.casefold() not in before)[:ADDED])
        counts.update(name for name in found if not name[0].isdigit())
        before += f" {title} {text}".casefold()
    names = tuple(name for name, count in counts.most_common(NAMES) if count > 1)
    return Outline(int(np.argmax(closeness)), tuple(added), names)


def _says_something(name: str, language: str) -> bool:
    return any(item[0] != STOP_MARK for item in sequence(name, language))
