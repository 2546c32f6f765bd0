"""Summaries of one length by several methods, held against those that people made."""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.summaries.algorithms.sentences import sentences
from apps.summaries.algorithms.texts import read
from apps.summaries.algorithms.thesis import words_of
from apps.summaries.algorithms.vectors import Frequencies
from lab.evaluations.summaries.collections import SEED, Budget, Collection, Example
from lab.evaluations.summaries.methods import Method, Prepared
from lab.evaluations.summaries.rouge import MEASURES, Rouge, paired_bootstrap

MIN_SENTENCES = 5  # of a text that can be summarised at all
PASSES = 3  # over which time is taken, the fastest one: other work on the machine only slows

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Results:
    """The scores of a method's summaries of a collection."""

    scores: NDArray[np.float64]  # (n_documents, 3): F1 of ROUGE-1, -2 and -Lsum
    seconds: float  # of processor time, for all documents

    def mean(self, measure: str) -> float:
        return float(self.scores[:, MEASURES.index(measure)].mean())

    @property
    def documents_per_second(self) -> float:
        return len(self.scores) / max(self.seconds, 1e-9)


def prepare(collection: Collection) -> tuple[list[Prepared], list[Example]]:
    """The collection's texts of five sentences and more, with the frequencies of all their terms, and their examples.

    How often words occur is counted in the texts themselves, never in the references.
    """
    language = collection.language
    texts = [(example, read(example.text, language, example.title)) for example in collection.examples]
    texts = [(example, text) for example, text in texts if len(text.sentences) >= MIN_SENTENCES]
    terms = count(text.terms for _, text in texts)
    words = count(words_of(example.text, language) for example, _ in texts)
    prepared = [Prepared(example.title, example.text, language, text, terms, words) for example, text in texts]
    return prepared, [example for example, _ in texts]


class Tally:
    """Counts documents one by one, as they do not fit into memory together."""

    def __init__(self) -> None:
        self.documents = 0
        self._holding: Counter[str] = Counter()

    def add(self, terms: Iterable[str]) -> None:
        """Count a document, given as its terms, in any order, repeated or not."""
        self.documents += 1
        self._holding.update(set(terms))

    def frequencies(self) -> Frequencies:
        return Frequencies(self.documents, self._holding)


def count(documents: Iterable[Iterable[str]]) -> Frequencies:
    """The frequencies of documents, each given as its terms."""
    tally = Tally()
    for terms in documents:
        tally.add(terms)
    return tally.frequencies()


def summary(prepared: Prepared, order: Sequence[int], budget: Budget) -> str:
    """Sentences in the order of the text, on lines of their own, as many as the budget allows.

    They are taken by rank; where words are allowed, the last one taken is cut.
    """
    pieces = prepared.sentences
    if budget.words is None:
        return "\n".join(pieces[number] for number in sorted(order[: budget.sentences or 1]))
    taken: dict[int, str] = {}
    left = budget.words
    for number in order:
        words = pieces[number].split()
        taken[number] = " ".join(words[:left])
        left -= len(words)
        if left <= 0:
            break
    return "\n".join(taken[number] for number in sorted(taken))


def evaluate(
    prepared: Sequence[Prepared],
    examples: Sequence[Example],
    collection: Collection,
    methods: Mapping[str, Method],
    *,
    clock: Clock = time.process_time,
) -> Iterator[tuple[str, Results]]:
    """The results of each method in turn, on the very same documents and sentences."""
    rouge = Rouge(collection.language)
    references = [_lines(example.reference, collection.language) for example in examples]
    for name, method in methods.items():
        orders, seconds = _timed(method, prepared, PASSES if name == "ours" else 1, clock)
        summaries = (summary(text, order, collection.budget) for text, order in zip(prepared, orders, strict=True))
        yield name, Results(np.array([rouge.score(*pair) for pair in zip(summaries, references, strict=True)]), seconds)


def _lines(reference: str, language: str) -> str:
    """A reference with each sentence on a line of its own; some lack the space between them."""
    if language == "zh" or "\n" in reference:
        return reference
    spaced = _spaced(reference)
    return "\n".join(spaced[start:end] for start, end in sentences(spaced, language))


def _spaced(text: str) -> str:
    pieces = []
    for number, character in enumerate(text):
        if number > 1 and character.isupper() and text[number - 1] in '.!?"' and text[number - 2] not in " .":
            pieces.append(" ")
        pieces.append(character)
    return "".join(pieces)


def _timed(
    method: Method, prepared: Sequence[Prepared], passes: int, clock: Clock
) -> tuple[list[Sequence[int]], float]:
    fastest = float("inf")
    orders: list[Sequence[int]] = []
    gc.collect()  # of what was before, so that it is not done meanwhile
    for _ in range(passes):
        start = clock()
        orders = [method(text) for text in prepared]
        fastest = min(fastest, clock() - start)
    return orders, fastest


def numbers(results: Mapping[str, Mapping[str, Results]], averaged: Iterable[str]) -> dict[str, float]:
    """All results as one flat object: ``method.measure`` is the mean over the collections named in `averaged`.

    Further ``collection.method.measure``, ``collection.documents``, and for ROUGE-2 the 95 % interval of the mean
    difference between Wirebeat and each other method, by paired bootstrap.
    """
    found: dict[str, float] = {}
    averaged = [name for name in averaged if name in results]
    for method in next(iter(results.values()), {}):
        of_method = [results[name][method] for name in averaged]
        for measure in MEASURES if of_method else ():
            found[f"{method}.{measure}"] = float(np.mean([each.mean(measure) for each in of_method]))
        if of_method:
            documents, seconds = (sum(len(r.scores) for r in of_method), sum(r.seconds for r in of_method))
            found[f"{method}.docs_per_s"] = documents / max(seconds, 1e-9)
    for name, by_method in results.items():
        found |= _numbers_of(name, by_method)
    return {key: round(value, 5) for key, value in found.items()}


def _numbers_of(name: str, by_method: Mapping[str, Results]) -> dict[str, float]:
    found: dict[str, float] = {f"{name}.documents": len(next(iter(by_method.values())).scores)}
    column = MEASURES.index("rouge2_f")
    for method, results in by_method.items():
        found |= {f"{name}.{method}.{measure}": results.mean(measure) for measure in MEASURES}
        found[f"{name}.{method}.docs_per_s"] = results.documents_per_second
        if method != "ours" and "ours" in by_method:
            low, high = paired_bootstrap(by_method["ours"].scores[:, column] - results.scores[:, column], SEED)
            found |= {f"{name}.ours_over_{method}.low": low, f"{name}.ours_over_{method}.high": high}
    return found
