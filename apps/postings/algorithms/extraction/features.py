"""Features that distinguish the blocks of an article's text from the rest of its page.

Nothing is standardised, absent is 0, and names say what is measured, so that the weights of a model can be read.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.blocks import (
    ALL_EMPHASIS,
    ALL_STRONG,
    EMPHASIS,
    MEANINGFUL,
    PICTURES,
    STRONG,
    TIME,
    Block,
    Place,
)
from apps.postings.algorithms.extraction.cues import NAMES as CUES
from apps.postings.algorithms.extraction.cues import cues_of
from apps.postings.algorithms.extraction.surroundings import Columns, Rows, Surroundings
from apps.postings.algorithms.extraction.words import BIT, letters
from apps.postings.algorithms.extraction.words import NAMES as GROUPS

TAGS = (
    "p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "tr", "blockquote", "pre", "figcaption", "figure",
    "dt", "dd", "center", "main", "section", "article", "aside", "header", "footer", "nav", "form", "ul", "ol", "body",
    "address", "details", "summary", "caption", "legend", "fieldset", "hr", "picture", "hgroup",
)  # fmt: skip
_TAG_PLACE = {tag: place for place, tag in enumerate(TAGS)}
_HEADINGS = ("h2", "h3", "h4")
_COMMENTS_REACH = 10  # elements above a block that may call themselves comments
_PUNCTUATION = re.compile('[,.;:!?…，。、；：！？»«“”„"।؟،]')
_ENDS = frozenset(".!?…。！？”\"»'’)」』।")
_QUOTES = frozenset("\"“„«'‘")
_COPYRIGHT = re.compile("©|copyright", re.IGNORECASE)
_TITLES = frozenset({"og:title", "twitter:title"})
_DESCRIPTIONS = frozenset({"og:description", "description", "twitter:description"})

_TEXT = (
    "bias", "len", "short", "mid", "long", "vlong", "L_cap", "punct", "nop", "end", "end_long", "dup", "dup3", "upper",
    "digit0", "lower0", "colon", "quote0", "copy", "em_some", "em_all", "strong", "strong_all", "time", "is_title",
    "is_desc",
)  # fmt: skip
_LINKS = ("ld", "ldhi", "ldall", "nl", "ld_short", "p_linked", "p_noend", "li_long", "h_link", "picture")


NAMES = (
    *_TEXT,
    *CUES,
    *_LINKS,
    *Surroundings.NAMES,
    "inbody",
    *(f"t_{tag}" for tag in TAGS),
    *(f"a_{tag}" for tag in MEANINGFUL),
    *(f"g{distance}_{group}" for distance in range(4) for group in GROUPS),
)


def features(blocks: Sequence[Block]) -> Rows:
    """One row for each block of a page, in the order of `NAMES`.

    Returns
    -------
    (n, m) ndarray, float64
        n blocks, m = len(NAMES).
    """
    if not blocks:
        return np.zeros((0, len(NAMES)))
    near = np.array([block.place.near for block in blocks], dtype=np.int64)
    groups = (near[:, :, None] >> np.arange(len(GROUPS))) & 1
    inside = np.array([block.place.inside for block in blocks], dtype=np.int64)
    text, links = _of_text(blocks), _of_links(blocks)
    around = Surroundings(blocks, in_comments(blocks)).columns()
    return np.column_stack(
        [
            *(text[name] for name in _TEXT),
            _of_cues(blocks),
            *(links[name] for name in _LINKS),
            *(around[name] for name in Surroundings.NAMES),
            groups[:, :3, GROUPS.index("p_body")].any(axis=1),
            _of_tags(blocks),
            (inside[:, None] >> np.arange(len(MEANINGFUL))) & 1,
            groups.reshape(len(blocks), -1),
        ]
    ).astype(np.float64)


def in_comments(blocks: Sequence[Block]) -> NDArray[np.bool_]:
    """Which blocks stand in what calls itself comments; an element around the page's headline is something else."""
    comments = BIT["n_comm"]
    around = around_headline(blocks)
    known: dict[Place, bool] = {}
    for block in blocks:
        if block.place not in known:
            near = islice(block.place.outwards(), _COMMENTS_REACH)
            known[block.place] = any(words & comments for words in block.place.near) and any(
                place.words & comments and place not in around for place in near
            )
    return np.array([known[block.place] for block in blocks], dtype=np.bool_)


def around_headline(blocks: Sequence[Block]) -> set[Place]:
    """The first h1 and the elements that it stands in; none on a page without one."""
    headline = next((block for block in blocks if block.tag == "h1"), None)
    return set() if headline is None else set(headline.place.outwards())


def _of_text(blocks: Sequence[Block]) -> Columns:
    texts = [block.text for block in blocks]
    size = np.array([block.size for block in blocks], dtype=np.float64)
    marks = np.array([len(_PUNCTUATION.findall(text)) for text in texts], dtype=np.float64)
    counted = Counter(texts)
    times = np.array([counted[text] for text in texts])
    markup = np.array([block.markup for block in blocks])
    end = np.array([text[-1] in _ENDS for text in texts])
    is_title, is_description = _of_head(blocks)
    return {
        "bias": np.ones(len(texts)),
        "len": np.log1p(size) / 5,
        "short": size < 25,
        "mid": (size >= 25) & (size < 80),
        "long": (size >= 80) & (size < 200),
        "vlong": size >= 200,
        "L_cap": np.minimum(size, 600) / 600,
        "punct": np.minimum(1.0, marks / (size / 20 + 1)),
        "nop": marks == 0,
        "end": end,
        "end_long": end & (size >= 80),
        "dup": times > 1,
        "dup3": times > 2,
        "upper": np.array([text.isupper() for text in texts]),
        "digit0": np.array([text[0].isdigit() for text in texts]),
        "lower0": np.array([text[0].islower() for text in texts]),
        "colon": np.array([text[-1] == ":" for text in texts]),
        "quote0": np.array([text[0] in _QUOTES for text in texts]),
        "copy": np.array([_COPYRIGHT.search(text) is not None for text in texts]),
        "em_some": (markup & EMPHASIS > 0) & (size < 250),
        "em_all": (markup & ALL_EMPHASIS > 0) & (size < 400),
        "strong": markup & STRONG > 0,
        "strong_all": (markup & ALL_STRONG > 0) & (size < 400),
        "time": markup & TIME > 0,
        "is_title": is_title,
        "is_desc": is_description,
    }


def _of_head(blocks: Sequence[Block]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which blocks repeat the title that the page's head states, or the beginning of its description."""
    root = blocks[0].place.element.getroottree().getroot()
    titles = [letters(root.findtext(".//title") or "")]
    descriptions = []
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").lower()
        if name in _TITLES:
            titles.append(letters((meta.get("content") or "")[:500]))
        elif name in _DESCRIPTIONS:
            descriptions.append(letters((meta.get("content") or "")[:140])[:60])
    headings = [letters(block.text[:500]) for block in blocks if block.tag == "h1"][:3]
    titles = [title for title in titles if title]
    is_title = np.zeros(len(blocks), dtype=np.bool_)
    is_description = np.zeros(len(blocks), dtype=np.bool_)
    for place, block in enumerate(blocks):
        own = letters(block.text[:400])
        if len(own) >= 12 and block.size < 400:
            repeated = any(own in title or (len(title) > 12 and title in own) for title in titles)
            is_title[place] = repeated or own in headings
        if len(own) >= 25:
            is_description[place] = any(
                len(stated) >= 25 and (own.startswith(stated) or stated.startswith(own[:60])) for stated in descriptions
            )
    return is_title, is_description


def _of_cues(blocks: Sequence[Block]) -> Rows:
    found = np.zeros((len(blocks), len(CUES)))
    for row, block in enumerate(blocks):
        found[row, cues_of(block.text)] = 1.0
    return found


def _of_links(blocks: Sequence[Block]) -> Columns:
    size = np.array([block.size for block in blocks])
    tags = np.array([block.tag for block in blocks])
    density = np.array([block.link_size / max(1, block.characters) for block in blocks])
    is_paragraph = tags == "p"
    return {
        "ld": density,
        "ldhi": density > 0.5,
        "ldall": density > 0.9,
        "nl": np.minimum([block.links for block in blocks], 6) / 6,
        "ld_short": np.where(size < 80, density, 0.0),
        "p_linked": is_paragraph & (density > 0.9),
        "p_noend": is_paragraph & np.array([block.text[-1] not in _ENDS for block in blocks]),
        "li_long": (tags == "li") & (size >= 80),
        "h_link": np.isin(tags, _HEADINGS) & (density > 0.5),
        "picture": np.array([any(each.tag in PICTURES for each in block.pictures) for block in blocks]),
    }


def _of_tags(blocks: Sequence[Block]) -> Rows:
    found = np.zeros((len(blocks), len(TAGS)))
    for row, block in enumerate(blocks):
        if (place := _TAG_PLACE.get(block.tag)) is not None:
            found[row, place] = 1.0
    return found
