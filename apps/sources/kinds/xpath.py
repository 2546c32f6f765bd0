from collections.abc import Sequence

from apps.sources.formats.examples import titles_of_links
from apps.sources.formats.feed import Page, ParsedFeed
from apps.sources.formats.proposals import propose_paths
from apps.sources.formats.recipes import ITEM_FIELDS, REQUIRED_FIELDS, Recipe, read_items
from apps.sources.formats.trees import read_page_tree
from apps.sources.kinds import SourceKind, gettext_noop


def read(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    [page] = pages
    return read_items(read_page_tree(page.content, content_type=page.content_type, url=page.url), recipe, page.url)


KIND = SourceKind(
    label=gettext_noop("Web page, items by XPath"),
    help=gettext_noop(
        "Each path is an XPath: that of the item begins at the channel, the others at the item "
        "(<code>.//h2</code>). Of a link its address is used, of an image its source."
    ),
    fields=ITEM_FIELDS,
    required=REQUIRED_FIELDS,
    read=read,
    propose=propose_paths,
    examples=titles_of_links,
    is_page=True,
)
