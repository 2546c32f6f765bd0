"""Texts with a summary that people wrote or chose, to compare summaries with."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

SEED = 20_261_121


@dataclass(frozen=True, slots=True)
class Example:
    title: str
    text: str
    reference: str  # its sentences on lines of their own


@dataclass(frozen=True, slots=True)
class Budget:
    """The length of all summaries of a collection, in sentences, or in words with the last sentence cut."""

    sentences: int | None = None
    words: int | None = None

    def __str__(self) -> str:
        if self.words is not None:
            return f"{self.words} words"
        return f"{self.sentences} sentence{'s' if self.sentences != 1 else ''}"


@dataclass(frozen=True, slots=True)
class Collection:
    name: str
    language: str
    budget: Budget
    examples: tuple[Example, ...]
    is_averaged: bool = True  # whether the means over collections include it

    def of_first_lines(self) -> Iterator["Collection"]:
        """The same texts with the first line of each reference, which favours the beginning of a report.

        With one sentence and with as many as before; none if references have single lines.
        """
        if not any("\n" in example.reference for example in self.examples):
            return
        examples = tuple(replace(each, reference=each.reference.partition("\n")[0]) for each in self.examples)
        yield Collection(f"{self.name}_first1", self.language, Budget(sentences=1), examples, is_averaged=False)
        name = f"{self.name}_first{self.budget.sentences or ''}"
        yield Collection(name, self.language, self.budget, examples, is_averaged=False)


def read_lines(lines: Iterable[str]) -> list[Example]:
    """The examples of JSON lines.

    A line has `text` and `summary`; or, where a headline stands for the summary, a headline (`headLine`, `headline` or
    `title`) and the text, whole (`text` or `content`) or in two parts (`newsBeginning`, `newsRemainder`).

    Raises
    ------
    ValueError
        At the first line that is not like this, with its number.

    Examples
    --------
    >>> read_lines(['{"text": "Sun. Moon.", "summary": "Sun ."}'])
    [Example(title='', text='Sun. Moon.', reference='Sun .')]
    >>> read_lines(['{"headLine": "日", "newsBeginning": "日。", "newsRemainder": "月。"}'])[0].text
    '日。月。'
    """
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(_example(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"line {number} is no text with its summary or headline: {error!r}") from error
    return found


def _example(line: Mapping[str, Any]) -> Example:
    if "newsBeginning" in line:
        text = line["newsBeginning"] + line["newsRemainder"]
    else:
        text = line["text"] if "text" in line else line["content"]
    if "summary" in line:
        return Example("", text, line["summary"])
    name = next((name for name in ("headLine", "headline", "title") if name in line), "headline")
    return Example("", text, line[name])


def from_files(article: str, summary: str) -> Example:
    """The example of an article whose first line is its title, and of a summary beside it.

    >>> from_files("Sun rises\\n\\nThe sun rose. It set.", "The sun rose.")
    Example(title='Sun rises', text='The sun rose. It set.', reference='The sun rose.')
    """
    title, _, text = article.strip().partition("\n")
    return Example(title.strip(), text.strip(), summary)


def sample(examples: Sequence[Example], most: int) -> tuple[Example, ...]:
    """At most `most` examples, always the same ones of the same collection, in order."""
    if len(examples) <= most:
        return tuple(examples)
    chosen = sorted(random.Random(SEED).sample(range(len(examples)), most))
    return tuple(examples[number] for number in chosen)
