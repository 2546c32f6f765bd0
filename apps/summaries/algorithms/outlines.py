"""The summaries of a text at each ratio, as places of sentences, and its characteristic words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.summaries.algorithms.characteristic import spelt
from apps.summaries.algorithms.composing import by_ratio
from apps.summaries.algorithms.frequencies import Frequencies
from apps.summaries.algorithms.ranking import ranked
from apps.summaries.algorithms.texts import length_in_words, read

STEPS = (10, 20, 30, 40, 50)  # percent of the text
MIN_SENTENCES = 5  # of a text that is summarized
MIN_WORDS = 100
SHORT = 50  # words of a summary by default
WORDS = 10  # characteristic ones

Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """A text's summaries by step, as places in it; without any if the text is short itself."""

    words: tuple[str, ...] = ()
    summaries: Mapping[int, Places] = field(default_factory=dict)


def outline(title: str, text: str, language: str, frequencies: Frequencies) -> Outline:
    """The summaries of a text at each step, and its characteristic words.

    Examples
    --------
    >>> outline("A title", "Too short a text. It has two sentences.", "en", Frequencies()).summaries
    {}
    """
    found = read(text, language, title)
    words = tuple(spelt(f"{title}\n{text}", language, frequencies, WORDS))
    if len(found.sentences) < MIN_SENTENCES or found.words < MIN_WORDS:
        return Outline(words)
    order = ranked(found, frequencies)
    lengths = [sentence.words for sentence in found.sentences]
    return Outline(
        words,
        {
            step: tuple(
                (found.sentences[number].start, found.sentences[number].end)
                for number in by_ratio(order, lengths, step / 100)
            )
            for step in STEPS
        },
    )


def step_of(text: str, summaries: Mapping[int, Places], percent: int | None) -> int:
    """The step nearest to a percentage of a text, by default the smallest with 50 words, else the largest; 0 without.

    >>> step_of("One. Two.", {10: ((0, 4),), 50: ((0, 9),)}, 25), step_of("One. Two.", {}, 25)
    (10, 0)
    >>> text = "One two. " * 60
    >>> step_of(text, {10: ((0, 90),), 20: ((0, 540),), 30: ((0, 540),)}, None), step_of(text, {10: ((0, 90),)}, None)
    (20, 10)
    """
    if not summaries:
        return 0
    if percent is not None:
        return min(summaries, key=lambda known: (abs(known - percent), known))
    words = {step: sum(length_in_words(text[start:end]) for start, end in places) for step, places in summaries.items()}
    return min((step for step, count in words.items() if count >= SHORT), default=max(words))
