"""Spelling suggestions for queries."""

import time

from apps.search.algorithms.language import And, Or, Tree, Word
from apps.search.algorithms.spelling import Vocabulary
from apps.search.models import SpelledWord

CACHE_SECONDS = 1_800  # the vocabulary changes slowly
_known: tuple[float, Vocabulary] | None = None  # until when


def suggestion(tree: Tree) -> Tree:
    """The query with corrected rare words, or the same one; phrases and filters stay."""
    return _corrected(tree, _vocabulary())


def _corrected(tree: Tree, vocabulary: Vocabulary) -> Tree:
    match tree:
        case Word(text):
            meant = vocabulary.meant(text)
            return Word(meant) if meant else tree
        case And(parts):
            return And(tuple(_corrected(part, vocabulary) for part in parts))
        case Or(parts):
            return Or(tuple(_corrected(part, vocabulary) for part in parts))
    return tree


def _vocabulary() -> Vocabulary:
    global _known
    if _known is None or _known[0] < time.monotonic():
        words = dict(SpelledWord.objects.values_list("word", "documents"))
        # None were learned yet: once they are, suggestions should not wait.
        until = time.monotonic() + CACHE_SECONDS if words else 0.0
        _known = until, Vocabulary(words)
    return _known[1]
