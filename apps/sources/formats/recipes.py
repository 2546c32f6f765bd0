"""Recipes: the paths of items in documents, for sources without a feed or with an unusual one.

A recipe has a path for each field of an item: keys for JSON, XPath for web pages and XML, regular expressions for any
text. Items are searched within the channel, the other fields within each item.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL
from apps.sources.formats.items import Paths, entries_of, is_address
from apps.sources.formats.text import web_address
from apps.sources.formats.tree_items import NamedPath, TreeReader, found_item, items_at
from apps.sources.formats.trees import Tree

ITEM_FIELDS = ("channel", "item", "title", "description", "link", "date", "image", "author")
REQUIRED_FIELDS = ("item", "title", "link")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The path of each field; "" where there is none."""

    channel: str = ""  # the part of the document that items are looked for in; the whole document by default
    item: str = ""  # for regular expressions what separates items
    title: str = ""
    description: str = ""
    link: str = ""  # or the one address of all items
    date: str = ""
    image: str = ""  # with "^" before it relative to the channel
    author: str = ""
    more: str = ""  # a line for each page to be followed to a recording

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The inverse of `to_json`; unknown members and values that are not text are ignored."""
        given = value if isinstance(value, Mapping) else {}
        names = [field.name for field in fields(cls)]
        return cls(**{name: given[name] for name in names if isinstance(given.get(name), str)})

    def to_json(self) -> dict[str, str]:
        """The fields that are not empty.

        >>> Recipe(item="//li", title=".//a").to_json()
        {'item': '//li', 'title': './/a'}
        """
        return {field.name: text for field in fields(self) if (text := getattr(self, field.name))}


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
        Paths(recipe.item, recipe.title, recipe.link, recipe.date),
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
