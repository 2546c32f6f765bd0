"""Items of texts of any kind, by regular expressions; the first group counts, or the whole match without groups."""

from collections.abc import Iterator

import re2

from apps.sources.formats.expressions import regex
from apps.sources.formats.feed import NotAFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL
from apps.sources.formats.items import MAX_ITEMS, FoundItem, is_address, markup_of_text
from apps.sources.formats.recipes import Recipe
from apps.sources.formats.text import MAX_CONTENT, MAX_IDENTIFIER


def find_items(text: str, recipe: Recipe) -> tuple[list[FoundItem], str]:
    """The items between separators, and the picture of the channel; pieces without a title and a link are skipped.

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
