"""The characteristic words of a text, in its own spelling."""

from collections import Counter, defaultdict
from collections.abc import Collection
from itertools import islice

from apps.postings.algorithms.segments import ADDRESSES
from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.summaries.algorithms.thesis import characteristic_words, words_of
from apps.summaries.algorithms.vectors import Frequencies

MAX_TEXT_LENGTH = 50_000  # characters that are read
MAX_LENGTH = 50  # characters of a word; longer ones are no words


def spelt(text: str, language: str, frequencies: Frequencies, count: int) -> list[str]:
    """The characteristic words of a text by the thesis' P(w), the heaviest first, each in its commonest spelling.

    Parameters
    ----------
    text : str
        Without markup; its first 50,000 characters are read, but no addresses.
    language : str
        As for `analyse`.
    frequencies : Frequencies
        Of the language's collection.
    count : int
        How many at most.

    Examples
    --------
    >>> spelt("The Bundestag voted. Bundestag members cheered, and voted.", "en", Frequencies(9, {"vote": 8}), 2)
    ['Bundestag', 'members']
    >>> spelt("总理访问柏林，总理说柏林很好。柏林", "zh", Frequencies(), 2)
    ['柏林', '总理']
    >>> spelt("Notes: https://example.org/notes1 and www.example.org", "en", Frequencies(), 9)
    ['Notes']
    """
    text = ADDRESSES.sub(" ", text[:MAX_TEXT_LENGTH])
    if SPACELESS_CHARACTER.search(text):
        spellings = {word: [word] * times for word, times in Counter(words_of(text, language)).items()}
        frequencies = _by_pairs(frequencies, spellings)
    else:
        spellings = _spaced(text, language)
    heaviest = characteristic_words({word: len(found) for word, found in spellings.items()}, frequencies)
    words = (word for word in heaviest if len(word) > 1 and not word[0].isdigit())
    found = (Counter(spellings[word]).most_common(1)[0][0] for word in words)
    return list(islice((word for word in found if len(word) <= MAX_LENGTH), count))


def _spaced(text: str, language: str) -> dict[str, list[str]]:
    words = analyse(text, language)
    found = defaultdict[str, list[str]](list)
    for word, (start, end) in zip(words.sequence, words.places, strict=True):
        if word[0] != STOP_MARK:
            found[word].append(text[start:end].removesuffix("'s").removesuffix("’s"))
    return found


def _by_pairs(frequencies: Frequencies, words: Collection[str]) -> Frequencies:
    """Frequencies know pairs of characters: a longer word is in no more documents than its rarest pair."""
    holding = {word: frequencies.holding.get(word, 0) for word in words}
    for word in words:
        if len(word) > 2 and SPACELESS_CHARACTER.match(word):
            pairs = (word[place : place + 2] for place in range(len(word) - 1))
            holding[word] = min(frequencies.holding.get(pair, 0) for pair in pairs)
    return Frequencies(frequencies.documents, holding)
