"""Expressions of recipes: XPath, and regular expressions that are matched in linear time."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import re2
from lxml import etree

MAX_EXPRESSION_LENGTH = 2_000  # characters
REGEX_MEMORY = 8 * 2**20  # bytes of an expression's automaton
_TINY = "<html/>"

Path = Callable[[etree._Element], Any]  # ready to be evaluated: nodes, texts, a number or a truth value


class BadExpression(ValueError):
    """An invalid expression; the message states the reason and the place."""


def xpath(expression: str, namespaces: Mapping[str, str] | None = None) -> Path:
    """The compiled XPath 1.0, without extensions. Raises BadExpression if it is too long or invalid.

    >>> xpath("string(//b)")(etree.fromstring("<a><b>tea</b></a>"))
    'tea'
    >>> xpath("//b[")
    Traceback (most recent call last):
    apps.sources.formats.expressions.BadExpression: It is not an XPath: invalid expression at character 4, after “//b[”.
    """
    _check_length(expression)
    try:
        return etree.XPath(expression, namespaces=dict(namespaces or {}), regexp=False, smart_strings=False)
    except etree.XPathError as error:
        at = error.error_log[0].column if len(error.error_log) else 0
        raise BadExpression(f"It is not an XPath: {str(error).lower()}{_place(expression, at)}.") from None
    except ValueError:  # control characters
        raise BadExpression("It contains characters that an XPath cannot have.") from None


def check_xpath(expression: str) -> None:
    """Raise BadExpression for an invalid XPath; unknown functions are only found by evaluating it."""
    compiled = xpath(expression)
    try:
        compiled(etree.fromstring(_TINY))
    except etree.XPathError as error:
        if "function" in str(error):
            raise BadExpression("It calls a function that XPath 1.0 does not have.") from None


def _place(expression: str, at: int) -> str:
    """Where in the expression a number of bytes lies, in words."""
    before = expression.encode("utf-8", "replace")[:at].decode("utf-8", "ignore")
    if not before:
        return ""
    return f" at character {min(len(before) + 1, len(expression))}, after “{before[-8:]}”"


def regex(expression: str) -> re2._Regexp:
    """The compiled regular expression of RE2, in which a dot matches line breaks, too.

    RE2 matches in linear time and has neither backreferences nor lookaround. Raises BadExpression if the expression is
    too long, invalid, or needs too much memory.

    >>> regex("<b>(.*?)</b>").search("a<b>tea\\n</b>")[1]
    'tea\\n'
    >>> regex("a**")
    Traceback (most recent call last):
    apps.sources.formats.expressions.BadExpression: RE2 says: bad repetition operator: ** (at character 2).
    """
    _check_length(expression)
    try:
        return re2.compile(expression, _options())
    except re2.error as error:
        message = error.args[0]
        text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        fragment = text.rpartition(": ")[2]
        at = expression.find(fragment) if fragment != expression else -1
        place = f" (at character {at + 1})" if fragment and at >= 0 else ""
        raise BadExpression(f"RE2 says: {text}{place}.") from None
    except UnicodeEncodeError:
        raise BadExpression("It contains half a character.") from None


@functools.cache
def _options() -> re2.Options:
    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    options.max_mem = REGEX_MEMORY
    return options


def _check_length(expression: str) -> None:
    if len(expression) > MAX_EXPRESSION_LENGTH:
        raise BadExpression(
            f"It is {len(expression):,} characters long; at most {MAX_EXPRESSION_LENGTH:,} are allowed."
        )
