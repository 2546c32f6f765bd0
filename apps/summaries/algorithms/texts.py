"""A text as summaries see it: its sentences, and the terms of each."""

import re
from bisect import bisect_left
from itertools import chain, takewhile
from typing import NamedTuple

from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.postings.algorithms.words.languages import base_code
from apps.postings.algorithms.words.scripts import SPACELESS_CHARACTER
from apps.summaries.algorithms.asides import MIN_SENTENCES, ends_with_mark, is_aside, is_caption
from apps.summaries.algorithms.datelines import dateline_end
from apps.summaries.algorithms.sentences import MAX_TEXT_LENGTH, sentences

MAX_SENTENCES = 1_000  # that are weighed; what stands behind them is in no summary
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w\S*")  # from its first letter on
CHARACTERS_OF_A_WORD = 1.8  # in scripts without spaces; the mean of Chinese words in news


class Sentence(NamedTuple):
    """A sentence of a text."""

    start: int  # characters
    end: int
    words: float  # how long it is, at least 1
    terms: tuple[str, ...]  # its content terms, repeated as they are
    names: int = 0  # capitalized words except the first
    has_number: bool = False  # never in scripts without spaces, which write many numbers in characters


class Text(NamedTuple):
    """The sentences of a text, and the terms of the title that it has."""

    sentences: tuple[Sentence, ...]
    title_terms: frozenset[str] = frozenset()

    @property
    def terms(self) -> set[str]:
        return set(chain.from_iterable(sentence.terms for sentence in self.sentences)) | self.title_terms

    @property
    def words(self) -> float:
        return sum(sentence.words for sentence in self.sentences)


def read(text: str, language: str, title: str = "", own: str | None = None) -> Text:
    """The sentences of a text and their content terms, without its dateline, captions, credits and boilerplate.

    Content terms are those by which the text is found, except single letters and terms with a digit first; of scripts
    without spaces they are the pairs of neighbouring characters, which rank sentences as well as words do.

    Parameters
    ----------
    text, title : str
        Without markup.
    language : str
        ISO 639-1 or longer, "" if unknown.
    own : str
        The text without the boilerplate of its source, if that is known. Sentences that it lacks are left out.

    Examples
    --------
    >>> found = read("LONDON (Reuters) - Ships sailed in 2024. They sank.", "en", "A ship")
    >>> [(sentence.words, sentence.terms) for sentence in found.sentences], found.title_terms
    ([(4.0, ('ship', 'sail')), (2.0, ('sank',))], frozenset({'ship'}))
    """
    begin = dateline_end(text)
    body = text[begin : begin + MAX_TEXT_LENGTH]
    places = sentences(body, base_code(language))[:MAX_SENTENCES]
    words = analyse(body, language)
    spaceless = set() if body.isascii() else {match.start() for match in SPACELESS_CHARACTER.finditer(body)}
    content = {item for item in set(words.sequence) if item[0] != STOP_MARK and _is_content(item)}
    found = []
    first = 0
    for start, end in places:
        last = bisect_left(words.places, (end,), first)
        terms = tuple(filter(content.__contains__, words.sequence[first:last]))
        length = float(last - first)
        if spaceless:
            characters, pairs = _characters(words.sequence[first:last], words.places[first:last], spaceless)
            terms += tuple(pairs)
            length -= characters * (1 - 1 / CHARACTERS_OF_A_WORD)
        names = sum([word[0].isupper() for word in body[start:end].split()[1:]])
        has_number = not spaceless and _DIGIT.search(body, start, end) is not None
        found.append(Sentence(begin + start, begin + end, max(1.0, length), terms, names, has_number))
        first = last
    found = _reported(found, text, title, own)
    return Text(tuple(found), frozenset(filter(_is_content, analyse(title, language).terms)))


def _reported(found: list[Sentence], text: str, title: str, own: str | None) -> list[Sentence]:
    """The sentences of the report itself, all if nothing else is left.

    Lines without a mark at their end are headings and captions; but what opens a Chinese report is its headline. A
    sentence that returns, as in a pull quote, counts once.
    """
    kept = None if own is None else " ".join(own.split())
    first = {text[sentence.start : sentence.end]: sentence for sentence in reversed(found)}
    found = sorted(first.values(), key=lambda sentence: sentence.start)
    pieces = [text[sentence.start : sentence.end] for sentence in found]
    reported = [
        (sentence, piece)
        for sentence, piece in zip(found, pieces, strict=True)
        if not (is_aside(piece) or is_caption(_line(text, sentence)))
        and (kept is None or " ".join(piece.split()) in kept)
    ]
    headlines = [piece for piece in takewhile(lambda each: not ends_with_mark(each), pieces) if piece != title.strip()]
    ended = [
        sentence
        for sentence, piece in reported
        if ends_with_mark(piece) or (piece in headlines and SPACELESS_CHARACTER.search(piece))
    ]
    return ended if len(ended) >= MIN_SENTENCES else [sentence for sentence, _ in reported] or found


def _line(text: str, sentence: Sentence) -> str:
    """The line of a sentence's end."""
    end = text.find("\n", sentence.end)
    return text[text.rfind("\n", 0, sentence.end) + 1 : end if end >= 0 else len(text)]


def length_in_words(text: str) -> float:
    """About how many words a text has, in any script. Punctuation that stands alone is none.

    >>> length_in_words("Two – words."), round(length_in_words("总理访问柏林。"))
    (2.0, 3)
    """
    between, characters = SPACELESS_CHARACTER.subn(" ", text)
    return len(_WORD.findall(between)) + characters / CHARACTERS_OF_A_WORD


def _is_content(term: str) -> bool:
    return len(term) > 1 and not term[0].isdigit()


def _characters(items: list[str], places: list[tuple[int, int]], spaceless: set[int]) -> tuple[int, list[str]]:
    """How many items are characters of scripts without spaces, and the pairs of those that touch."""
    are = [start in spaceless for start, _ in places]
    pairs = [
        items[number - 1] + items[number]
        for number in range(1, len(items))
        if are[number] and are[number - 1] and places[number - 1][1] == places[number][0]
    ]
    return sum(are), pairs
