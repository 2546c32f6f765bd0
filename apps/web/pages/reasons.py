"""Reasons of check times and error messages: stored in English, shown in the reader's language.

Workers store complete sentences. A sentence is found by its shape, with {0}, {1} for values; unknown ones stay English.
"""

import re
from functools import cache, lru_cache
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext

_SENTENCE = re.compile(r'\{% translate "(.+)" %\}')


def _sentences(name: str) -> tuple[str, ...]:
    path = Path(settings.BASE_DIR, "templates", "reasons", f"{name}.txt")
    return tuple(_SENTENCE.findall(path.read_text(encoding="utf-8")))


REASONS, PROBLEMS = _sentences("reasons") + _sentences("steps"), _sentences("problems")


def translate_reason(written: str) -> str:
    """
    >>> translate_reason("the site refused with status 403"), translate_reason("of {no} known shape")
    ('the site refused with status 403', 'of {no} known shape')
    """
    shape, values = shape_of(written)
    return gettext(shape).format(*map(translate_reason, values)) if shape else written


@lru_cache(4096)
def shape_of(written: str) -> tuple[str, tuple[str, ...]]:
    """The shape of a sentence and its values; "" if it has none.

    >>> shape_of("page of weight 1.5, update expected with probability 0.2")
    ('page of weight {0}, update expected with probability {1}', ('1.5', '0.2'))
    """
    for shape, pattern in _patterns():
        if match := pattern.fullmatch(written):
            return shape, match.groups()
    return "", ()


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Values of reasons are numbers; those of problems are any text, also other problems."""
    return [
        *((shape, _pattern(shape, r"(\d[\d.,]*(?:e[+-]?\d+)?)")) for shape in REASONS),
        *((shape, _pattern(shape, "(.+?)")) for shape in PROBLEMS),
    ]


def _pattern(shape: str, value: str) -> re.Pattern[str]:
    return re.compile(value.join(map(re.escape, re.split(r"\{\d\}", shape))), re.DOTALL)
