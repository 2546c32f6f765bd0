"""Recipes: the paths of items in documents, for sources without a feed or with an unusual one.

A recipe has a path for each field of an item: keys for JSON, XPath for web pages and XML, regular expressions for any
text. Items are searched within the channel, the other fields within each item.
"""

from collections.abc import Iterator

import re2

from apps.sources.formats.expressions import regex
from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL
from apps.sources.formats.items import (
    MAX_ITEMS,
    FoundItem,
    NamedPath,
    Recipe,
    TreeReader,
    entries_of,
    found_item,
    is_address,
    items_at,
    markup_of_text,
)
from apps.sources.formats.text import MAX_CONTENT, MAX_IDENTIFIER, web_address
from apps.sources.formats.trees import Tree

ITEM_FIELDS = ("channel", "item", "title", "description", "link", "date", "image", "author")
REQUIRED_FIELDS = ("item", "title", "link")


def read_items(tree: Tree, recipe: Recipe, url: str, *, is_json: bool = False) -> ParsedFeed:
    """The items of a tree by the paths of a recipe; NotAFeed if it has none."""
    reader = TreeReader(is_json=is_json, is_html=tree.is_html, namespaces=tree.namespaces)
    channel = tree.root
    if recipe.channel:
        path = reader.path("The channel", recipe.channel)
        found = next((node for node in path.nodes(tree.root) if not isinstance(node, str)), None)
        if found is None:
            raise NotAFeed(f"{path} found nothing in the document.")
        channel = found
    elements = items_at(reader, reader.path("The item", recipe.item), channel)
    paths, image = _paths(reader, recipe)
    shared = image.first(channel) if image else None
    entries, problems = entries_of(
        [found_item(reader, paths, element) for element in elements],
        recipe,
        base=tree.base,
        shared_image="" if shared is None else web_address(reader.picture(shared).strip(), tree.base),
    )
    return ParsedFeed(
        kind="json paths" if is_json else "page",
        title=tree.title,
        link=url,
        description=tree.description,
        language=tree.language,
        entries=entries,
        problems=(*tree.problems, *problems),
    )


def _paths(reader: TreeReader, recipe: Recipe) -> tuple[dict[str, NamedPath], NamedPath | None]:
    """The paths within an item, and that of the picture of the channel."""
    within = {name: getattr(recipe, name) for name in ("title", "description", "link", "date", "image", "author")}
    of_channel = recipe.image.removeprefix(OF_CHANNEL) if recipe.image.startswith(OF_CHANNEL) else ""
    if of_channel:
        del within["image"]
    paths = {
        name: reader.path(f"The {name}", expression)
        for name, expression in within.items()
        if expression and not is_address(expression)
    }
    return paths, reader.path("The image", of_channel) if of_channel else None


# --- items of texts ---------------------------------------------------------------------------------------------------
def find_items(text: str, recipe: Recipe) -> tuple[list[FoundItem], str]:
    """The items between separators, and the picture of the channel; pieces without a title and a link are skipped.

    Of each match the first group counts, or all of it where the expression has no groups.
    Raises NotAFeed if an expression finds nothing, and BadExpression for an invalid one.
    """
    image_of_channel = recipe.image.startswith(OF_CHANNEL)
    expressions = recipe.to_json() | {"image": recipe.image.removeprefix(OF_CHANNEL)}
    if is_address(recipe.link):
        del expressions["link"]
    compiled = {name: regex(each) for name, each in expressions.items() if each}

    def find(name: str, within: str) -> str:
        match = compiled[name].search(within) if name in compiled else None
        if match is None:
            return ""
        return match[1] or "" if compiled[name].groups else match[0]

    channel = find("channel", text) if "channel" in compiled else text
    if "channel" in compiled and not channel:
        raise NotAFeed(f"The channel expression “{recipe.channel}” found nothing in the document.")
    pieces = list(_split(compiled["item"], channel))
    if len(pieces) < 2:
        raise NotAFeed(f"The item separator “{recipe.item}” found nothing in the document.")
    found = [
        FoundItem(
            title=find("title", piece)[: 4 * MAX_IDENTIFIER],
            description=markup_of_text(find("description", piece)[:MAX_CONTENT]),
            link=find("link", piece),
            dates=tuple(filter(None, [find("date", piece)])),
            image="" if image_of_channel else find("image", piece),
            authors=tuple(filter(None, [find("author", piece)])),
        )
        for piece in pieces
    ]
    items = [item for item in found if item.title or item.link]
    if not items:
        raise NotAFeed(f"The title expression “{recipe.title}” found nothing in any of the pieces.")
    return items, find("image", channel) if image_of_channel else ""


def _split(separator: re2._Regexp, text: str) -> Iterator[str]:
    """The pieces of a text, at most one more than items are read."""
    end = 0
    count = 0
    for match in separator.finditer(text):
        if match.end() == match.start():  # an empty match separates nothing
            continue
        yield text[end : match.start()]
        end = match.end()
        count += 1
        if count > MAX_ITEMS:
            return
    yield text[end:]
