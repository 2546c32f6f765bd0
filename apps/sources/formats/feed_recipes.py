"""Recipes of feeds: another path to the pictures of items, another link element of a podcast."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lxml import etree

from apps.sources import formats
from apps.sources.formats.characters import with_prefixes_declared, with_references_mended
from apps.sources.formats.documents import canonical_name
from apps.sources.formats.expressions import xpath
from apps.sources.formats.feed import MAX_ENTRIES, Enclosure, Page, ParsedEntry, ParsedFeed
from apps.sources.formats.items import Node, Recipe, TreeReader
from apps.sources.formats.json_paths import read_json_tree
from apps.sources.formats.text import web_address
from apps.sources.formats.trees import Tree, decoded, read_xml_tree

OF_CHANNEL = "^"  # before an image's path: one picture of the channel for all items
_LINKS = ("href", "url", "src")
_RECORDINGS = {
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg",
    "aac": "audio/aac", "flac": "audio/flac", "wav": "audio/wav", "mp4": "video/mp4", "m4v": "video/mp4",
    "webm": "video/webm", "mov": "video/quicktime",
}  # fmt: skip


def amended_feed(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    """The parsed feed with the links and pictures that the recipe finds in its items.

    The text at `link`, else its `href`, `url` or `src`, is the entry's link and, if it is a recording, an enclosure.
    `image` is evaluated on the item, or with a leading "^" on the channel. Raises NotAFeed if the document is not a
    feed or a path cannot be evaluated.
    """
    [page] = pages
    link, image, url = recipe.link, recipe.image, page.url
    feed = formats.parse(page.content, content_type=page.content_type, url=url)
    if not feed.entries or not (link or image):
        return feed
    tree, is_json = _tree(page)
    channel, items = _items(tree.root, is_json=is_json)
    if len(items) != len(feed.entries):
        problem = "The feed is too broken for the recipe: its items cannot be separated by paths."
        return replace(feed, problems=(*feed.problems, problem))
    reader = TreeReader(is_json=is_json, is_html=False, namespaces=tree.namespaces)
    entries, problems = feed.entries, feed.problems
    if link:
        found = _found(reader, "The link", link, items, _linked)
        entries = tuple(
            _with_link(entry, web_address(address, url)) for entry, address in zip(entries, found, strict=True)
        )
        problems = (*problems, *_complaint("link", link, found))
    if image:
        holders = [channel] * len(items) if image.startswith(OF_CHANNEL) else items
        found = _found(reader, "The image", image.removeprefix(OF_CHANNEL), holders, TreeReader.picture)
        entries = tuple(
            replace(entry, image_url=web_address(address.strip(), url) or entry.image_url)
            for entry, address in zip(entries, found, strict=True)
        )
        problems = (*problems, *_complaint("image", image, found))
    return replace(feed, entries=entries, problems=problems)


def _tree(page: Page) -> tuple[Tree, bool]:
    utf8, problems = decoded(page.content, page.content_type)
    if utf8.startswith((b"{", b"[")):
        return Tree(root=read_json_tree(utf8), base=page.url, is_html=False, problems=problems), True
    return read_xml_tree(with_prefixes_declared(with_references_mended(utf8)), page.url, problems), False


def _items(root: etree._Element, *, is_json: bool) -> tuple[etree._Element, list[etree._Element]]:
    """The channel, and the elements of the entries in their order."""
    if is_json:
        return root, xpath("items/item[@type='object']")(root)
    name = canonical_name(root.tag)
    if name == "entry":
        return root, [root]
    channels = [root] if name == "feed" else [each for each in root if _named(each, "channel")]
    channel = channels[0] if channels else root
    holders = (channel,) if channel is root else (channel, root)  # RDF has the items beside the channel
    names = ("entry",) if any(_named(each, "entry") for each in channel) else ("item",)
    items = [each for holder in holders for each in holder if _named(each, *names)]
    return channel, items[:MAX_ENTRIES]


def _named(element: etree._Element, *names: str) -> bool:
    return isinstance(element.tag, str) and canonical_name(element.tag) in names


def _found(
    reader: TreeReader,
    name: str,
    expression: str,
    holders: Sequence[etree._Element],
    read: Callable[[TreeReader, Node], str],
) -> list[str]:
    path = reader.path(name, expression)
    return ["" if (node := path.first(holder)) is None else read(reader, node) for holder in holders]


def _complaint(name: str, expression: str, found: Sequence[str]) -> tuple[str, ...]:
    missing = sum(not each for each in found)
    return (f"{missing:,} of {len(found):,} items: the {name} path “{expression}” found nothing.",) if missing else ()


def _linked(reader: TreeReader, node: Node) -> str:
    if isinstance(node, str):
        return node.strip()
    return reader.text(node).strip() or next((value for name in _LINKS if (value := node.get(name))), "")


def _with_link(entry: ParsedEntry, address: str) -> ParsedEntry:
    if not address:
        return entry
    media_type = recording_type(address)
    is_new = media_type and address not in {enclosure.url for enclosure in entry.enclosures}
    added = (Enclosure(address, media_type),) if is_new else ()
    return replace(entry, link=address, enclosures=(*entry.enclosures, *added))


def recording_type(address: str) -> str:
    """The media type of the sound or film that an address ends like, or "".

    >>> recording_type("https://example.org/1.MP3?token=a"), recording_type("https://example.org/1")
    ('audio/mpeg', '')
    """
    return _RECORDINGS.get(address.partition("?")[0].partition("#")[0].lower().rpartition(".")[2], "")
