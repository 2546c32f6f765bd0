"""Formulas: what of MathML articles may have, and TeX between $$ $$, \\( \\) and \\[ \\] as MathML.

A single $ is money.
"""

import json
import re
from html import escape
from pathlib import Path

from apps.postings.algorithms.tokens import with_replaced

MAX_FORMULAS = 40_000  # characters of all formulas in an article

_MATHML = json.loads(Path(__file__).with_name("mathml.json").read_text("utf-8"))
ELEMENTS = frozenset(_MATHML["elements"])
ATTRIBUTES = frozenset(_MATHML["attributes"])
# Of at most 2,000 characters, whose conversion takes about 20 ms.
_FORMULA = re.compile(
    r"(?<![\\$])\$\$([^$]{1,2000}+)\$\$(?!\$)"
    r"|(?<!\\)\\\(((?:(?!\\[()]).){1,2000}+)\\\)"
    r"|(?<!\\)\\\[((?:(?!\\[\[\]]).){1,2000}+)\\\]",
    re.DOTALL,
)
_WORDS = re.compile(r"[^\W\d_]{2}")
_SIGNS = re.compile(r"[\\^_={}]")
_MACRO = re.compile(r"\\(?:def|newcommand|newenvironment|DeclareMathOperator)\b")  # can grow without bounds


def with_formulas(html: str) -> str:
    """Sanitized markup with its TeX as MathML, not made safe again; what cannot be converted stays as it is.

    >>> with_formulas("<p>It costs $5 or $6, and $$Ca$$h is no formula.</p>")
    '<p>It costs $5 or $6, and $$Ca$$h is no formula.</p>'
    >>> with_formulas(r"\\(x\\)")
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline" alttext="x"><mrow><mi>x</mi></mrow></math>'
    """
    if not any(mark in html for mark in ("$$", "\\(", "\\[")):
        return html
    left = MAX_FORMULAS

    def formula(match: re.Match[str]) -> str:
        nonlocal left
        money, inline, block = match.groups()
        tex = (money or inline or block).strip()
        left -= len(tex)
        if left < 0 or (money and _WORDS.search(tex) and not _SIGNS.search(tex)):
            return escape(match[0], quote=False)
        return _mathml(tex, "inline" if inline else "block") or escape(match[0], quote=False)

    return with_replaced(html, _FORMULA, formula)


def _mathml(tex: str, display: str) -> str:
    """MathML that names its TeX, or "" if the text is not TeX."""
    if not tex or _MACRO.search(tex):
        return ""
    from latex2mathml.converter import convert  # noqa: PLC0415 - it takes every process 2 MB, and few articles need it

    try:
        mathml: str = convert(tex, display=display)
    except Exception:  # the library raises errors of any kind for malformed formulas
        return ""
    return mathml.replace(">", f' alttext="{escape(tex)}">', 1)
