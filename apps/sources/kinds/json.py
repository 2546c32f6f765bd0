from collections.abc import Sequence

from apps.sources.formats.examples import titles_of_members
from apps.sources.formats.feed import Page, ParsedFeed
from apps.sources.formats.json_paths import check_json_path, read_json_tree
from apps.sources.formats.json_proposals import propose_keys
from apps.sources.formats.recipes import ITEM_FIELDS, REQUIRED_FIELDS, Recipe, read_items
from apps.sources.formats.trees import Tree, decoded
from apps.sources.kinds import SourceKind, gettext_noop


def read(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    [page] = pages
    utf8, problems = decoded(page.content, page.content_type)
    tree = Tree(root=read_json_tree(utf8), base=page.url, is_html=False, problems=problems)
    return read_items(tree, recipe, page.url, is_json=True)


KIND = SourceKind(
    label=gettext_noop("JSON, items by paths"),
    help=gettext_noop(
        "Each path follows keys: <code>data.items</code>, <code>title</code>, <code>media[0].url</code>, "
        '<code>["my key"]</code>; or it is an XPath: <code>//data/items/item</code>. An array means each '
        "of its elements."
    ),
    fields=ITEM_FIELDS,
    required=REQUIRED_FIELDS,
    check=check_json_path,
    read=read,
    propose=propose_keys,
    examples=titles_of_members,
    is_page=True,
)
