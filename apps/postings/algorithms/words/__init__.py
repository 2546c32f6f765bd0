"""From a text to the terms under which it is found, one way for all languages."""

from apps.postings.algorithms.words.analysis import MAX_TEXT_WORDS, STOP_MARK, Words, analyse, sequence
from apps.postings.algorithms.words.languages import language_of
