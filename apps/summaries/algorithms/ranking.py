"""Our own order of a text's sentences: its lead where it has one, and otherwise what the text says.

What a sentence i of a text says, over its content terms:

- ``sum of P(w) / sqrt(words_i)``, with the thesis' ``P(w)``, D = 1 and c = 1/2: its characteristic words;
- ``sum over its distinct terms of (F(w) - 1) / sqrt(words_i)``: how often its words come back;
- ``v_i . (sum of all v_j) - 1``, with tf-idf vectors of length 1: how much of it the others say too (centrality in one
  pass, without a graph);
- the share of the title's terms that it has;
- how many names it has, of at most six, and whether it has a number: who, where, when and how many.

The first three are scaled, so that the largest of a text is 1. To that comes what is in favour of the sentence as the
only one: its place, worth ``1.5 lead exp(-i/4)`` and .4 more for the first, and being short. How far a report has the
shape of a lead with details below shows in its first sentence: a lead of 25 words or more states what happened, a short
one only opens the text. So ``lead = 1 + .6 (words_0 / 25 - 1)``, from .4 to 1.6. Sentences are taken one after the
other, the best first, and this second part fades with the words chosen so far, by ``exp(-5.3 chosen / all words)``: for
one line nothing beats the beginning, but a reader of a third of the text wants to know what else there is.

The weights were chosen by hand on halves of 497 stories of CNN, 200 of the BBC and 300 of Xinhua, and hold on the other
halves: results of neighbouring values differ by less than the halves do.
"""

import math
from dataclasses import dataclass

import numpy as np

from apps.summaries.algorithms.texts import Text
from apps.summaries.algorithms.vectors import Floats, Frequencies, Occurrences, occurrences, vectors


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much."""

    words: float = 0.2
    recurrence: float = 0.4
    centrality: float = 0.6
    title: float = 0.4
    names: float = 0.1
    number: float = 0.05
    place: float = 1.5
    first: float = 0.4
    length: float = -0.3
    reach: float = 4.0  # sentences, after which a place is worth 1/e of the first
    shape: float = 0.6  # how far the first sentence's length decides what places are worth
    fading: float = 5.3  # rate at which place and length fade until the whole text is chosen


MAX_WORDS = 60.0  # words; sentences longer than that are as bad as this
LEAD_WORDS = 25.0  # words of a usual lead
MAX_NAMES = 6.0  # names of a sentence that count


def ranked(text: Text, frequencies: Frequencies, weights: Weights = Weights()) -> list[int]:
    """The numbers of a text's sentences, the best first.

    Parameters
    ----------
    text : Text
        As `read` gives it.
    frequencies : Frequencies
        Of a collection in the text's language; an empty one will do.

    Returns
    -------
    list of int
        Each sentence once. Every beginning of it is a summary of that size, a shorter one within each longer one.

    Examples
    --------
    >>> from apps.summaries.algorithms.texts import read
    >>> ranked(read("Storm hits Rome. Officials slept. The storm tore roofs off houses in Rome.", "en"), Frequencies())
    [0, 2, 1]
    """
    lengths = [sentence.words for sentence in text.sentences]
    worth = contents(text, frequencies, weights)
    alone = openings(text, weights)
    rate = weights.fading / max(1.0, sum(lengths))
    order: list[int] = []
    covered = 0.0
    for _ in lengths:
        best = int(np.argmax(worth + math.exp(-rate * covered) * alone))
        order.append(best)
        worth[best] = -np.inf
        covered += lengths[best]
    return order


def openings(text: Text, weights: Weights = Weights()) -> Floats:
    """(n_sentences,) What is in favour of each sentence as the only one: its place and its length."""
    words = np.array([sentence.words for sentence in text.sentences])
    lead = 1 + weights.shape * np.clip(words[:1] / LEAD_WORDS - 1, -1, 1)
    values: Floats = weights.place * lead * np.exp(-np.arange(len(words)) / weights.reach)
    values[:1] += weights.first
    values += weights.length * np.minimum(words, MAX_WORDS) / MAX_WORDS
    return values


def contents(text: Text, frequencies: Frequencies, weights: Weights = Weights()) -> Floats:
    """(n_sentences,) What each sentence says, wherever it stands: from 0 to the sum of the first six weights."""
    sentences = text.sentences
    roots = np.sqrt([sentence.words for sentence in sentences])
    found = occurrences([sentence.terms for sentence in sentences])
    rows = vectors(found, frequencies)
    characteristic = found.per_sentence(characteristic_weights(found, frequencies)[found.columns]) / roots
    others = np.bincount(found.columns, minlength=len(found.terms)) - 1.0
    recurring = np.bincount(rows.rows, others[rows.columns], len(sentences)) / roots
    central = np.maximum(0.0, rows.products(rows.total()) - 1)
    title = text.title_terms
    shares = [len(title.intersection(sentence.terms)) / len(title) if title else 0.0 for sentence in sentences]
    return (
        weights.words * scaled(characteristic)
        + weights.recurrence * scaled(recurring)
        + weights.centrality * scaled(central)
        + weights.title * np.array(shares)
        + weights.names * np.minimum([sentence.names for sentence in sentences], MAX_NAMES) / MAX_NAMES
        + weights.number * np.array([sentence.has_number for sentence in sentences], np.float64)
    )


def scaled(values: Floats) -> Floats:
    """Values of which the largest is 1, unless none is above 0."""
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values


def characteristic_weights(found: Occurrences, frequencies: Frequencies) -> Floats:
    """(n_terms,) The thesis' P(w) of each content term of a text, with D = 1 and c = 1/2."""
    count = len(found.terms)
    times = np.bincount(found.columns, minlength=count)
    lengths = np.fromiter(map(len, found.terms), np.float64, count)
    return times * (1 - frequencies.shares(found.terms)) * np.sqrt(lengths - 1)
