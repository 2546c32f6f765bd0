"""The ways of ordering a text's sentences that are compared, on the same sentences each."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import rjieba
from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.nlp.stemmers import Stemmer, null_stemmer
from sumy.summarizers.lex_rank import LexRankSummarizer
from sumy.summarizers.lsa import LsaSummarizer
from sumy.summarizers.luhn import LuhnSummarizer
from sumy.summarizers.text_rank import TextRankSummarizer
from sumy.utils import get_stop_words

from apps.summaries.algorithms.ranking import ranked
from apps.summaries.algorithms.texts import Text, read
from apps.summaries.algorithms.vectors import Frequencies
from lab.evaluations.summaries.thesis import thesis_scores


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text that all methods order the sentences of."""

    title: str
    whole: str
    language: str
    text: Text
    terms: Frequencies  # of the collection, in terms
    words: Frequencies  # in words of the thesis

    @property
    def sentences(self) -> list[str]:
        return [self.whole[sentence.start : sentence.end] for sentence in self.text.sentences]


Method = Callable[[Prepared], Sequence[int]]


def lead(prepared: Prepared) -> Sequence[int]:
    return range(len(prepared.text.sentences))


def thesis(prepared: Prepared) -> Sequence[int]:
    return _descending(thesis_scores(prepared.sentences, prepared.language, prepared.words))


def ours(prepared: Prepared) -> Sequence[int]:
    """From the plain text, so that the time it takes is all of it."""
    return ranked(read(prepared.whole, prepared.language, prepared.title), prepared.terms)


def _descending(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda number: -values[number])


class _Words:
    """The interface of a tokenizer for sumy, whose own needs data from the network."""

    def __init__(self, language: str) -> None:
        self._language = language

    def to_words(self, sentence: str) -> tuple[str, ...]:
        if self._language == "zh":
            return tuple(word for word in rjieba.cut(sentence) if word[0].isalnum())
        return tuple(re.findall(r"[^\W\d_]+", sentence))


@cache
def _summarizer(kind: Any, language: str) -> Any:
    """A summarizer of sumy's that gives the order of all sentences where it would choose the best."""
    name = {"en": "english", "zh": "chinese"}[language]
    summarizer = kind(Stemmer(name) if language == "en" else null_stemmer)
    summarizer.stop_words = get_stop_words(name)

    def ordered(sentences: Any, count: int, rating: Any, *args: Any, **options: Any) -> list[int]:
        rate = rating.__getitem__ if isinstance(rating, dict) else rating
        return _descending([rate(each, *args, **options) for each in sentences])

    summarizer._get_best_sentences = ordered
    return summarizer


def _by_sumy(kind: Any) -> Method:
    def order(prepared: Prepared) -> Sequence[int]:
        words = _Words(prepared.language)
        document = ObjectDocumentModel([Paragraph([Sentence(each, words) for each in prepared.sentences])])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LSA of texts with fewer words than sentences
            found: Sequence[int] = _summarizer(kind, prepared.language)(document, 1)
        return found or lead(prepared)

    return order


METHODS: Mapping[str, Method] = {
    "lead": lead,
    "lexrank": _by_sumy(LexRankSummarizer),
    "textrank": _by_sumy(TextRankSummarizer),
    "lsa": _by_sumy(LsaSummarizer),
    "luhn": _by_sumy(LuhnSummarizer),
    "thesis": thesis,
    "ours": ours,
}
