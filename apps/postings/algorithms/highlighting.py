"""Syntax highlighting: Pygments' token types as classes of `<span>`, in the declared or else the detected language."""

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from itertools import groupby
from pathlib import Path

from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

MAX_CODE = 20_000  # characters of code in an article
MAX_PART = 500  # characters; the time that some lexers take grows with the square of their number

CLASSES: dict[_TokenType, str] = {
    Comment: "c", Keyword: "k", Operator.Word: "k", Number: "m", String: "s", Name.Attribute: "a", Name.Builtin: "b",
    Name.Class: "f", Name.Decorator: "a", Name.Function: "f", Name.Tag: "t", Generic.Deleted: "d",
    Generic.Inserted: "i", Generic.Heading: "f", Generic.Subheading: "f", Generic.Prompt: "c",
}  # fmt: skip
_PRE = re.compile(r"<pre([^<>]*+)>(.*?)</pre>", re.DOTALL)
_OWN = re.compile(r"\s*<code([^<>]*+)>(.*)</code>\s*", re.DOTALL)
_SPANS = re.compile(r"</?span\b[^<>]*+>")
_LANGUAGE = re.compile(r'class="language-([^"]+)"')
# How a class of the element, or of the one around it, names the language: Prism, GitHub, SyntaxHighlighter, Org.
_HINT = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|brush:\s*|src-|sourceCode\s+)([\w+#-]{1,20})")
_SIGNS = [
    (name, re.compile(pattern, re.MULTILINE), needed)
    for name, (pattern, needed) in json.loads(Path(__file__).with_name("signs-of-code.json").read_text("utf-8")).items()
]


def language_in(classes: str) -> str:
    """The language that the classes of an element name, or "".

    >>> language_in("wp-block-code language-C++"), language_in("wide")
    ('c++', '')
    """
    found = _HINT.search(classes)
    return found[1].lower() if found else ""


def highlighted(html: str) -> str:
    """Sanitized markup with its code in colours; a <pre> with markup of its own stays as it is.

    >>> highlighted('<pre><code class="language-python">x = 1  # one</code></pre>')
    '<pre><code class="language-python">x = <span class="m">1</span>  <span class="c"># one</span></code></pre>'
    """
    left = MAX_CODE

    def piece(match: re.Match[str]) -> str:
        nonlocal left
        outer, inner = match.groups()
        own = _OWN.fullmatch(inner)
        around = f"{outer} {own[1]}" if own else outer
        code = _SPANS.sub("", own[2] if own else inner)
        left -= len(code)
        if "<" in code or left < 0:
            return match[0]
        code = unescape(code)
        named = _LANGUAGE.search(around)
        language = named[1] if named else detected(code)
        coloured = _coloured(code, language)
        return f'<pre><code class="language-{language}">{coloured}</code></pre>' if coloured else match[0]

    return _PRE.sub(piece, html) if "<pre" in html else html


def detected(code: str) -> str:
    """The language whose signs the code has, or "" in doubt."""
    return next((name for name, signs, needed in _SIGNS if len(signs.findall(code)) >= needed), "")


def _coloured(code: str, language: str) -> str:
    """Its markup, or "" for an unknown language, overlong lines, and where a lexer loses text."""
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - the list of all lexers, which few articles need

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False, startinline=True)
    except ClassNotFound:
        return ""
    found = [token for part in _parts(code) for token in lexer.get_tokens(part)]
    if "".join(text for _, text in found) != code:
        return ""
    words = groupby(found, key=lambda token: _class_of(token[0]))
    pieces = ((name, escape("".join(text for _, text in tokens), quote=False)) for name, tokens in words)
    return "".join(f'<span class="{name}">{text}</span>' if name else text for name, text in pieces)


def _parts(code: str) -> Iterator[str]:
    """The code in parts of whole lines, which are cut if they are too long."""
    part = ""
    for line in code.splitlines(keepends=True):
        if len(part) + len(line) > MAX_PART:
            yield part
            part = ""
        part += line[:MAX_PART]
    yield part


def _class_of(kind: _TokenType) -> str:
    return next((CLASSES[each] for each in reversed(kind.split()) if each in CLASSES), "")
