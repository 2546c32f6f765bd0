"""Recipes: where in a document its items are, for sources that have no feed or an odd one.

A recipe has a path for each field of an item. What a path is depends on the kind of the source: keys for JSON, XPath
for web pages and XML, regular expressions for any text. Items are looked for within the channel, the other fields
within each item.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Self

from apps.sources.formats.expressions import BadExpression, check_xpath, regex
from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL, amended_feed
from apps.sources.formats.items import Paths, entries_of, is_address
from apps.sources.formats.json_paths import check_json_path, read_json_tree
from apps.sources.formats.podcast_pages import Follow, Page, check_trail, follow
from apps.sources.formats.text import web_address
from apps.sources.formats.text_items import TextReader
from apps.sources.formats.tree_items import NamedPath, TreeReader, found_item, items_at
from apps.sources.formats.trees import Tree, decoded, read_page_tree

_ITEM_FIELDS = ("channel", "item", "title", "description", "link", "date", "image", "author")
FIELDS: Mapping[str, tuple[str, ...]] = {  # by kind of source: what a recipe of it may have
    "feed": ("image",),
    "json": _ITEM_FIELDS,
    "xpath": _ITEM_FIELDS,
    "regex": _ITEM_FIELDS,
    "podcast": ("link", "image"),
    "scrape": ("more", "title", "description", "date", "image"),
}
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "json": ("item", "title", "link"),
    "xpath": ("item", "title", "link"),
    "regex": ("item", "title", "link"),
    "scrape": ("more",),
}


class BadRecipe(ValueError):
    """A field of a recipe that cannot be used; the message says what is wrong, and where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)
        self.field = field
        self.message = message

    def __str__(self) -> str:
        return f"{self.field.capitalize()}: {self.message}"


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
        """The recipe that `to_json` made; what is no text or of no known name is left out."""
        given = value if isinstance(value, Mapping) else {}
        names = [field.name for field in fields(cls)]
        return cls(**{name: given[name] for name in names if isinstance(given.get(name), str)})

    def to_json(self) -> dict[str, str]:
        """The fields that are not empty.

        >>> Recipe(item="//li", title=".//a").to_json()
        {'item': '//li', 'title': './/a'}
        """
        return {field.name: text for field in fields(self) if (text := getattr(self, field.name))}

    def of_kind(self, kind: str) -> Self:
        """The recipe without what sources of the kind have no use for."""
        given = {name: getattr(self, name) for name in FIELDS.get(kind, ())}
        # In a regular expression white space is what it is.
        return type(self)(**{name: text if kind == "regex" else text.strip() for name, text in given.items()})

    def problems(self, kind: str) -> dict[str, str]:
        """What is wrong with each field that cannot be used; empty if all is well."""
        wrong = {name: "This field is required." for name in REQUIRED.get(kind, ()) if not getattr(self, name).strip()}
        for name in FIELDS.get(kind, ()):
            if expression := getattr(self.of_kind(kind), name):
                try:
                    _check(kind, name, expression)
                except BadExpression as error:
                    wrong[name] = str(error)
        return wrong

    def check(self, kind: str) -> None:
        """
        Raises
        ------
        BadRecipe
            For the first field that cannot be used.

        Examples
        --------
        >>> Recipe(item="b[", title=".", link=".").check("xpath")
        Traceback (most recent call last):
        apps.sources.formats.recipes.BadRecipe: Item: It is not an XPath: invalid expression at character 2, after “b[”.
        """
        for name, message in self.problems(kind).items():
            raise BadRecipe(name, message)


def _check(kind: str, name: str, expression: str) -> None:
    if name == "more":
        check_trail(expression)
        return
    if name == "link" and is_address(expression):
        if not web_address(expression):
            raise BadExpression("This is not a web address.")
        return
    _CHECKS.get(kind, check_xpath)(expression.removeprefix(OF_CHANNEL) if name == "image" else expression)


_CHECKS: Mapping[str, Callable[[str], object]] = {"json": check_json_path, "regex": regex}


def read_by_recipe(
    content: bytes, *, kind: str, recipe: Recipe | Mapping[str, str], content_type: str = "", url: str = ""
) -> ParsedFeed:
    """Read the items of a document by their paths. What it holds may be hostile: it takes time and memory.

    Parameters
    ----------
    content : bytes
        The body of the response, no longer compressed; at most 10 MB.
    kind : str
        Of the source: "json", "xpath", "regex"; "feed" and "podcast" for feeds that the recipe adds to; "scrape" for
        podcasts whose recording is named on the very page.
    recipe : Recipe or mapping
        The paths, or what `Recipe.to_json` made of them.
    content_type : str
        The header of the response.
    url : str
        Where the document was found.

    Raises
    ------
    NotAFeed
        If nothing is found; the message names the path that found nothing. Nothing else is ever raised.

    Examples
    --------
    >>> page = b'<ul><li><a href="/tea">First flush</a></ul>'
    >>> recipe = Recipe(item="//li", title=".//a", link=".//a")
    >>> feed = read_by_recipe(page, kind="xpath", recipe=recipe, url="https://example.org/")
    >>> [(entry.title, entry.link) for entry in feed.entries]
    [('First flush', 'https://example.org/tea')]
    """
    recipe = recipe if isinstance(recipe, Recipe) else Recipe.from_json(recipe)
    recipe = recipe.of_kind(kind)
    try:
        recipe.check(kind)
    except BadRecipe as error:
        raise NotAFeed(f"The recipe of the feed cannot be used. {error}") from None
    match kind:
        case "json":
            return _read_json(content, recipe, content_type, url)
        case "xpath":
            return _read_tree(read_page_tree(content, content_type=content_type, url=url), recipe, url)
        case "regex":
            return _read_text(content, recipe, content_type, url)
        case "scrape":
            return _read_only_page(Page(content, content_type, url), recipe)
        case _:
            return amended_feed(content, link=recipe.link, image=recipe.image, content_type=content_type, url=url)


def _read_json(content: bytes, recipe: Recipe, content_type: str, url: str) -> ParsedFeed:
    utf8, problems = decoded(content, content_type)
    tree = Tree(root=read_json_tree(utf8), base=url, is_html=False, problems=problems)
    return _read_tree(tree, recipe, url, is_json=True)


def _read_tree(tree: Tree, recipe: Recipe, url: str, *, is_json: bool = False) -> ParsedFeed:
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


def _read_text(content: bytes, recipe: Recipe, content_type: str, url: str) -> ParsedFeed:
    utf8, problems = decoded(content, content_type)
    written = {name: getattr(recipe, name) for name in _ITEM_FIELDS}
    of_channel = recipe.image.startswith(OF_CHANNEL)
    reader = TextReader(written | {"image": "" if of_channel else recipe.image})
    text = utf8.decode("utf-8", "replace")
    channel = reader.channel(text)
    shared = TextReader({"image": recipe.image.removeprefix(OF_CHANNEL)}).find("image", channel) if of_channel else ""
    entries, more_problems = entries_of(
        reader.items(channel),
        Paths(recipe.item, recipe.title, recipe.link, recipe.date),
        base=url,
        shared_image=web_address(shared, url),
    )
    return ParsedFeed(kind="text", link=url, entries=entries, problems=(*problems, *more_problems))


def _read_only_page(page: Page, recipe: Recipe) -> ParsedFeed:
    step = follow([page], recipe.to_json())
    if isinstance(step, Follow):
        raise NotAFeed(f"The recording is on another page: {step.url}")
    return step
