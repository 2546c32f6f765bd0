from collections.abc import Sequence

from apps.sources.formats.expressions import regex
from apps.sources.formats.feed import ParsedFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL
from apps.sources.formats.items import Paths, entries_of
from apps.sources.formats.pages import Page
from apps.sources.formats.recipes import ITEM_FIELDS, REQUIRED_FIELDS, Recipe
from apps.sources.formats.text import web_address
from apps.sources.formats.text_items import TextReader
from apps.sources.formats.trees import decoded
from apps.sources.kinds import SourceKind, gettext_noop


def read(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    [page] = pages
    utf8, problems = decoded(page.content, page.content_type)
    written = {name: getattr(recipe, name) for name in ITEM_FIELDS}
    of_channel = recipe.image.startswith(OF_CHANNEL)
    reader = TextReader(written | {"image": "" if of_channel else recipe.image})
    text = utf8.decode("utf-8", "replace")
    channel = reader.channel(text)
    shared = TextReader({"image": recipe.image.removeprefix(OF_CHANNEL)}).find("image", channel) if of_channel else ""
    entries, more_problems = entries_of(
        reader.items(channel),
        Paths(recipe.item, recipe.title, recipe.link, recipe.date),
        base=page.url,
        shared_image=web_address(shared, page.url),
    )
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
