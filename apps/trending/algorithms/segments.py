"""Word segmentation of scripts without spaces."""

import re
from collections.abc import Iterator

MAX_RUN_LENGTH = 20  # characters of an indivisible run that counts as one word

_JAPANESE = re.compile(r"[\u30a1-\u30fa\u30fc-\u30ff]+|[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff]")
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_PARTICLE = re.compile("(?:에서|에게|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도)$")


def segments(run: str, language: str) -> Iterator[tuple[int, int]]:
    """The beginnings and ends of the words in a run of such a script.

    Chinese is divided by jieba's dictionary. In Japanese, runs of kanji and of katakana are words, and hiragana between
    them is grammar. Korean has spaces, so that a run is a word with its particle. A run of any other script (Thai, Lao,
    Khmer, Burmese) is one word if it is short.

    Parameters
    ----------
    run : str
        Consecutive characters of scripts without spaces.
    language : str
        ISO 639-1 of the text, which distinguishes Japanese kanji from Chinese.

    Examples
    --------
    >>> [run[start:end] for run in ["总理访问柏林"] for start, end in segments(run, "zh")]
    ['总理', '访问', '柏林']
    >>> [run[start:end] for run in ["新首相がロンドンで会見"] for start, end in segments(run, "ja")]
    ['新首相', 'ロンドン', '会見']
    >>> [run[start:end] for run in ["대통령이"] for start, end in segments(run, "ko")]
    ['대통령']
    """
    if language == "ja" or _KANA.search(run):
        yield from (match.span() for match in _JAPANESE.finditer(run))
    elif _HANGUL.search(run):
        particle = _PARTICLE.search(run)
        yield 0, particle.start() if particle and particle.start() >= 2 else len(run)
    elif _HAN.search(run):
        import rjieba  # noqa: PLC0415 - it loads its dictionary, which only Chinese needs

        yield from ((start, end) for _, start, end in rjieba.tokenize(run))
    elif len(run) <= MAX_RUN_LENGTH:
        yield 0, len(run)
