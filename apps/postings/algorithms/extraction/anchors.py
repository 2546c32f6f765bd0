"""The links of a page and the words that stand for them: on an index page those are headlines."""

from itertools import islice

from lxml import etree

from apps.postings.algorithms.extraction.blocks import SKIPPED, dense_characters
from apps.sources.formats.text import one_line, without_controls

SHORTEST_HEADLINE, LONGEST_HEADLINE = 25, 180  # characters, those of Chinese, Japanese, Korean and Thai counted twice
MIN_WORDS = 4  # of a headline in a language with spaces between its words
MAX_TEXT_LENGTH = 300  # characters of a link's words

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_STEPS = 200  # through the elements of a link, which may hold half a page


def is_headline(text: str) -> bool:
    """Whether the words of a link are as many as those of a headline.

    >>> [is_headline(text) for text in ("Council keeps the old bridge open", "World", "市议会投票决定保留老桥供人使用")]
    [True, False, True]
    """
    dense = dense_characters(text)
    if not SHORTEST_HEADLINE <= len(text) + dense <= LONGEST_HEADLINE:
        return False
    return dense > 0 or len(text.split()) >= MIN_WORDS


def words_of_link(link: etree._Element) -> str:
    """What a link says: the heading in it if there is one, else all of its text, else what describes it or its picture.

    >>> from lxml.html import fromstring
    >>> words_of_link(fromstring("<a href='/1'><img alt='A bridge'><h3>Bridge stays</h3><p>The council voted.</p></a>"))
    'Bridge stays'
    """
    inside = list(islice(link.iter("*"), _MAX_STEPS))
    heading = next((element for element in inside if element.tag in _HEADINGS), None)
    words = _text(heading) if heading is not None else ""
    pictures = (element.get("alt") or "" for element in inside if element.tag == "img")
    described = (link.get("aria-label") or "", link.get("title") or "", *pictures)
    return words or _text(link) or next(filter(None, map(_clean, described)), "")


def _text(element: etree._Element) -> str:
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, each in islice(walk, 2 * _MAX_STEPS):
        if event == "end":
            pieces += [(each.tail or "")[:MAX_TEXT_LENGTH]] if each is not element else []
        elif each.tag in SKIPPED:
            walk.skip_subtree()
        else:
            pieces.append((each.text or "")[:MAX_TEXT_LENGTH])
    return _clean(" ".join(pieces) if any(map(_is_block, element)) else "".join(pieces))


def _is_block(element: etree._Element) -> bool:
    return element.tag in _HEADINGS or element.tag in ("div", "p", "li", "section", "br")


def _clean(text: str) -> str:
    return one_line(without_controls(text), MAX_TEXT_LENGTH)
