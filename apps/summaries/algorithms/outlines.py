"""The summaries of a text at each ratio, as places of sentences, and its characteristic words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.summaries.algorithms.characteristic import spelt
from apps.summaries.algorithms.composing import by_count, by_ratio
from apps.summaries.algorithms.ranking import ranked
from apps.summaries.algorithms.texts import length_in_words, read
from apps.summaries.algorithms.vectors import Frequencies

STEPS = (10, 20, 30, 40, 50)  # percent of the text
MIN_SENTENCES = 5  # of a text that is summarized
MIN_WORDS = 100
DEFAULT = 0  # the step of the summary by default, of three to five sentences
WORDS = 10  # characteristic ones

Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """A text's summaries by step, as places in it; without any if the text is short itself."""

    words: tuple[str, ...] = ()
    summaries: Mapping[int, Places] = field(default_factory=dict)


def outline(title: str, text: str, language: str, frequencies: Frequencies, own: str | None = None) -> Outline:
    """The summaries of a text at each step and by default, and its characteristic words.

    `own` is the text without the boilerplate of its source, if that is known.

    Examples
    --------
    >>> outline("A title", "Too short a text. It has two sentences.", "en", Frequencies()).summaries
    {}
    """
    found = read(text, language, title, own)
    report = "\n".join([title, *(text[sentence.start : sentence.end] for sentence in found.sentences)])
    words = tuple(spelt(report, language, frequencies, WORDS))
    if len(found.sentences) < MIN_SENTENCES or found.words < MIN_WORDS:
        return Outline(words)
    order = ranked(found, frequencies)
    lengths = [sentence.words for sentence in found.sentences]
    taken = {DEFAULT: by_count(order, lengths)} | {step: by_ratio(order, lengths, step / 100) for step in STEPS}
    return Outline(
        words,
        {
            step: tuple((found.sentences[number].start, found.sentences[number].end) for number in numbers)
            for step, numbers in taken.items()
        },
    )


def chosen(text: str, summaries: Mapping[int, Places], percent: int | None) -> tuple[int, Places]:
    """The summary whose step is nearest to a percentage of a text, by default that of three to five sentences.

    Returns its share of the text in percent and its places; 0 and none without a summary.

    >>> text = "One. " * 9 + "Two three four five six seven."
    >>> chosen(text, {0: ((0, 44),), 50: ((0, 75),)}, None), chosen(text, {0: ((0, 44),), 50: ((0, 75),)}, 20)
    ((60, ((0, 44),)), (50, ((0, 75),)))
    """
    if not summaries:
        return 0, ()
    if percent is None:
        places = summaries[min(summaries)]
        words = sum(length_in_words(text[start:end]) for start, end in places)
        return max(1, round(100 * words / max(1.0, length_in_words(text)))), places
    step = min((step for step in summaries if step != DEFAULT), key=lambda step: (abs(step - percent), step))
    return step, summaries[step]
