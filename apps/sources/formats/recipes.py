"""Recipes: the paths of items in documents, for sources without a feed or with an unusual one.

A recipe has a path for each field of an item: keys for JSON, XPath for web pages and XML, regular expressions for any
text. Items are searched within the channel, the other fields within each item.
"""

from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL
from apps.sources.formats.items import Recipe, entries_of, is_address
from apps.sources.formats.text import web_address
from apps.sources.formats.tree_items import NamedPath, TreeReader, found_item, items_at
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
