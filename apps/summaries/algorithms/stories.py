"""A summary of several texts about one event, without repetitions.

References
----------
.. [1] J. Carbonell, J. Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing
   summaries", SIGIR 1998.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.summaries.algorithms.composing import MAX_SENTENCES
from apps.summaries.algorithms.ranking import contents, openings, scaled
from apps.summaries.algorithms.texts import Text
from apps.summaries.algorithms.vectors import Floats, Frequencies, Vectors, occurrences, vectors

RELEVANCE = 0.85  # lambda of MMR; the rest weighs novelty
REPEATED = 0.5  # cosine with a chosen sentence from which on a sentence is a repetition
MAX_TEXTS = 30
MAX_OF_EACH = 20  # sentences of a text that may be taken: its best, so that long texts do not drown the others


@dataclass(frozen=True, slots=True, order=True)
class StorySentence:
    """A sentence of a story's summary, by its text and its number in it."""

    text: int
    sentence: int


def story_summary(texts: Sequence[Text], frequencies: Frequencies, words: float) -> list[StorySentence]:
    """Sentences of several texts that summarize their common story in about the given number of words.

    By maximal marginal relevance: next comes the sentence with the highest ``.85 worth - .15 cosine`` with the nearest
    sentence that was taken. Its worth is its own within its text, its place included, and how near it is to the
    sentences of the *other* texts, each scaled to 1. A sentence with a cosine of .5 or more to one that was taken is
    never taken. It ends when the words are reached, and has five sentences at most.

    Parameters
    ----------
    texts : sequence of Text
        The first 30 are read, so the preferred ones come first.
    frequencies : Frequencies
        Of the language's collection.
    words : float
        The length, above 0; the last sentence may exceed it.

    Returns
    -------
    list of StorySentence
        By text and then by sentence, each once. Empty only if no text has a sentence.

    Raises
    ------
    ValueError
        If `words` is not above 0.

    Examples
    --------
    >>> from apps.summaries.algorithms.texts import read
    >>> texts = [read("A storm hit Rome.", "en"), read("A storm has hit Rome. Two bridges fell.", "en")]
    >>> [(each.text, each.sentence) for each in story_summary(texts, Frequencies(), 7)]
    [(0, 0), (1, 1)]
    """
    if words <= 0:
        raise ValueError(f"words must be above 0, not {words}")
    candidates, own = _candidates(texts[:MAX_TEXTS], frequencies)
    sentences = [texts[each.text].sentences[each.sentence] for each in candidates]
    rows = vectors(occurrences([sentence.terms for sentence in sentences]), frequencies)
    worth = own + scaled(_shared([each.text for each in candidates], rows))
    nearest = np.zeros(len(candidates))  # largest cosine with a chosen sentence
    taken: list[StorySentence] = []
    covered = 0.0
    while covered < words and len(taken) < MAX_SENTENCES and np.any(worth > -np.inf):
        best = int(np.argmax(RELEVANCE * worth - (1 - RELEVANCE) * nearest))
        taken.append(candidates[best])
        covered += sentences[best].words
        nearest = np.maximum(nearest, rows.products(rows.row(best)))
        worth[best] = -np.inf
        worth[nearest >= REPEATED] = -np.inf
    return sorted(taken)


def _candidates(texts: Sequence[Text], frequencies: Frequencies) -> tuple[list[StorySentence], Floats]:
    """The sentences that may be taken, and what each is worth in its own text, of which the best has 1."""
    found: list[StorySentence] = []
    worths: list[float] = []
    for number, text in enumerate(texts):
        worth = scaled(contents(text, frequencies) + openings(text))
        best = np.argsort(-worth, kind="stable")[:MAX_OF_EACH].tolist()
        found += [StorySentence(number, place) for place in best]
        worths += worth[best].tolist()
    return found, np.array(worths)


def _shared(text_of: Sequence[int], rows: Vectors) -> Floats:
    """How near each sentence is to those of the other texts."""
    texts = np.array(text_of, np.int64)
    everything = rows.total()
    shared = np.zeros(len(texts))
    for text in np.unique(texts):
        of_it = texts == text
        shared += of_it * rows.products(everything - rows.total(of_it))
    return shared
