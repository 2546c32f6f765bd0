"""Algorithm II of the thesis as printed: the keen-tag cut of a page's source, its winning part and evaluate().

Luo, Ai-Times (2007), section 3.2. Where the print leaves a choice: tags were lost from its list of universal keen tags,
and inline markup is the likeliest filling; a script, style or noscript is one non-keen token together with its content;
entities are decoded and white space collapsed before strings are measured; of equal parts the first wins; p, br, div
and center break the line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain, islice
from typing import NamedTuple

UNIVERSAL = frozenset(["p", "font", "a", "img", "br", "div", "center", "b", "strong", "i", "em", "u", "span"])
MIN_SCORE = 100  # N, characters
MAX_LINKS = 5  # T
MAX_SOURCE_LENGTH = 3_000_000  # characters
MAX_TOKENS = 200_000  # strings and tags; the rest is ignored

_TOKEN = re.compile(
    r"""<(?:
      !--.*?(?:-->|\Z)
    | ([!?][^>]*+(?:>|\Z))
    | (script|style|noscript)(?=[\s/>]).*?(?:</\2\s*>|\Z)
    | /?([a-z][^\s/>]*+)([^>]*+)(?:>|\Z)
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_HREF = re.compile(r"(?<![\w-])href\s*=", re.IGNORECASE)  # not data-href
_LINE_BREAKS = frozenset({"p", "br", "div", "center"})


@dataclass(frozen=True, slots=True)
class Part:
    """What stands between two non-keen tags."""

    text: str  # one line for each p, br, div and center
    score: int  # characters
    hrefs: int  # number of <a href=...>


@dataclass(frozen=True, slots=True)
class Winner(Part):
    is_news: bool  # evaluate() = 1


def keen_tags(
    source: str,
    *,
    keen: frozenset[str] = UNIVERSAL,
    min_score: int = MIN_SCORE,
    max_links: int = MAX_LINKS,
    comments_split: bool = True,
) -> Winner:
    """The data-rich part of a page's html source, and whether it is news.

    Parameters
    ----------
    source : str
        At most 3 million characters of it are read.
    keen : frozenset of str
        Names of the tags, opening and closing, that do not split the source: universal ones and a site's own.
    min_score : int
        N: news has more characters.
    max_links : int
        T: news has fewer links. (The thesis's definition is k < T, its experiment "not more than".)
    comments_split : bool
        Whether comments, scripts and styles are non-keen tags, as printed, or are left out.

    Examples
    --------
    >>> keen_tags("<form>Search</form><p>The bridge <b>stays</b> open.<br>For now.<hr>Footer", min_score=20)
    Winner(text='The bridge stays open.\\nFor now.', score=31, hrefs=0, is_news=True)
    """
    best = best_part(tokens(source[:MAX_SOURCE_LENGTH]), keen=keen, comments_split=comments_split)
    is_news = evaluate(best.score, best.hrefs, min_score=min_score, max_links=max_links) == 1
    return Winner(best.text, best.score, best.hrefs, is_news)


def evaluate(score: int, hrefs: int, *, min_score: int = MIN_SCORE, max_links: int = MAX_LINKS) -> int:
    """evaluate() = fin(score) * tin(hrefnum): 1 for a news page, else 0.

    >>> evaluate(2159, 0), evaluate(100, 0), evaluate(2159, 5)
    (1, 0, 0)
    """
    return int(score > min_score) * int(hrefs < max_links)


def best_part(page: Iterable["str | Tag"], *, keen: frozenset[str], comments_split: bool = True) -> Part:
    """The part with the highest score of a page's strings and tags, cut at the non-keen tags."""
    best = Part("", 0, 0)
    strings: list[str] = []
    hrefs = 0
    for token in chain(islice(page, MAX_TOKENS), [Tag("/", is_link=False)]):
        if isinstance(token, str):
            strings.append(token)
        elif token.name in keen:
            hrefs += token.is_link
            if token.name in _LINE_BREAKS:
                strings.append("\n")
        elif token.name or comments_split:
            # Decoding and collapsing only shorten a part, so most parts are skipped.
            if sum(map(len, strings)) > best.score:
                text = _collapsed("".join(strings))
                best = Part(text, len(text), hrefs) if len(text) > best.score else best
            strings, hrefs = [], 0
    return best


class Tag(NamedTuple):
    name: str  # in lower case; "" for comments, declarations, scripts and styles
    is_link: bool


_SILENT = Tag("", is_link=False)


def tokens(source: str) -> Iterator[str | Tag]:
    """Strings and tags in the order of the source."""
    position = 0
    for match in _TOKEN.finditer(source):
        if match.start() > position:
            yield _SPACE.sub(" ", source[position : match.start()])
        position = match.end()
        name = (match[3] or "").lower()
        is_link = name == "a" and match[0][1] != "/" and _HREF.search(match[4]) is not None
        yield Tag(name, is_link) if name else _SILENT
    if position < len(source):
        yield _SPACE.sub(" ", source[position:])


def _collapsed(source: str) -> str:
    lines = (" ".join(line.split()) for line in unescape(source).split("\n"))
    return "\n".join(filter(None, lines))
