"""Titles that a document probably lists, from which recipes are proposed where no person gives an example."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable

from apps.sources.formats.feed import Page
from apps.sources.formats.items import words_of
from apps.sources.formats.json_paths import read_json_tree, type_of
from apps.sources.formats.proposals import ASIDE, HEADINGS
from apps.sources.formats.text import one_line, plain_text
from apps.sources.formats.trees import decoded, read_page_tree

MAX_EXAMPLES = 4  # lists per document, each of which gives one title
MIN_LISTED = 3  # texts in a list
MIN_WORDS, MAX_LENGTH = 3, 250  # of a title; the length in characters
COUNTED = 80  # characters of a title, as longer ones are no more likely to be one
_LETTERS = re.compile(r"[^\W\d_]")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")  # scripts without spaces between words
MIN_SPACELESS = 6


def titles_of_links(page: Page) -> list[str]:
    """The first title of each list of links in a web page, the likeliest list first."""
    root = read_page_tree(page.content, content_type=page.content_type, url=page.url).root
    found: defaultdict[Hashable, list[str]] = defaultdict(list)
    for anchor in root.iter("{*}a"):
        if not anchor.get("href") or next(anchor.iterancestors(*ASIDE), None) is not None:
            continue
        title = one_line(words_of(next(anchor.iterdescendants(*HEADINGS), anchor)))
        if _is_like_a_title(title):
            found[tuple(each.tag for each in anchor.iterancestors())].append(title)
    return _first_of_each(found.values())


def titles_of_members(page: Page) -> list[str]:
    """The first text of each member that the objects of an array in a JSON document share, the likeliest first."""
    utf8, _ = decoded(page.content, page.content_type)
    found: defaultdict[Hashable, list[str]] = defaultdict(list)
    for node in read_json_tree(utf8).iter():
        title = plain_text(node.text or "") if type_of(node) == "string" else ""
        if _is_like_a_title(title):
            found[(node.tag, *(each.tag for each in node.iterancestors()))].append(title)
    return _first_of_each(found.values())


def _first_of_each(lists: Iterable[list[str]]) -> list[str]:
    """Of lists that are long enough, those with the most text first."""
    long = [titles for titles in lists if len(set(titles)) >= MIN_LISTED]
    long.sort(key=lambda titles: -sum(min(len(title), COUNTED) for title in set(titles)))
    return [titles[0] for titles in long[:MAX_EXAMPLES]]


def _is_like_a_title(text: str) -> bool:
    if not _LETTERS.search(text) or len(text) > MAX_LENGTH:
        return False
    return len(text.split()) >= MIN_WORDS or len(_SPACELESS.findall(text)) >= MIN_SPACELESS
