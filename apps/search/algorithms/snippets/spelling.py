"""Usual spellings of stems."""

from collections import Counter
from collections.abc import Collection, Iterable

from apps.postings.algorithms.words import analyse


def spellings(terms: Collection[str], texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The most frequent spelling of each term in texts with language codes, in lower case except for names.

    A term that no text has stays as it is.

    >>> spellings(["elect", "nato", "x"], [("Elections: the election, NATO and elections", "en")])
    {'elect': 'elections', 'nato': 'NATO', 'x': 'x'}
    """
    wanted = set(terms)
    written: dict[str, Counter[str]] = {}
    for text, language in texts:
        words = analyse(text, language)
        for item, (start, end) in zip(words.sequence, words.places, strict=True):
            if item in wanted:
                written.setdefault(item, Counter())[text[start:end]] += 1
    return {term: _usual(written[term]) if term in written else term for term in terms}


def _usual(forms: Counter[str]) -> str:
    """The commonest form, its case aside; a capital that begins a sentence is no name."""
    alike: dict[str, Counter[str]] = {}
    for form, count in forms.items():
        alike.setdefault(form.lower(), Counter())[form] += count
    lower, cases = max(alike.items(), key=lambda pair: (pair[1].total(), pair[0]))
    return lower if cases[lower] else max(cases, key=lambda form: (cases[form], form))
