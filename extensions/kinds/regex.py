from collections.abc import Sequence

from apps.sources.formats.expressions import regex
from apps.sources.formats.feed import Page, ParsedFeed
from apps.sources.formats.items import entries_of
from apps.sources.formats.recipes import ITEM_FIELDS, REQUIRED_FIELDS, Recipe, find_items
from apps.sources.formats.text import web_address
from apps.sources.formats.trees import decoded
from apps.sources.kinds import SourceKind, gettext_noop


def read(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    [page] = pages
    utf8, problems = decoded(page.content, page.content_type)
    items, image = find_items(utf8.decode("utf-8", "replace"), recipe)
    shared_image = web_address(image, page.url)
    entries, more_problems = entries_of(items, recipe, base=page.url, shared_image=shared_image)
    return ParsedFeed(kind="text", link=page.url, entries=entries, problems=(*problems, *more_problems))


KIND = SourceKind(
    label=gettext_noop("Any text, items by regular expressions"),
    help=gettext_noop(
        'Each is a regular expression of <a href="https://github.com/google/re2/wiki/Syntax" '
        'rel="noopener noreferrer">RE2</a> whose first group is used; a dot also matches line breaks.'
    ),
    fields=ITEM_FIELDS,
    required=REQUIRED_FIELDS,
    check=regex,
    strips=False,
    read=read,
    is_page=True,
)
