from collections.abc import Sequence

from apps.sources.formats.feed import ParsedFeed
from apps.sources.formats.feed_recipes import amended_feed
from apps.sources.formats.pages import Page
from apps.sources.formats.recipes import Recipe
from apps.sources.kinds import SourceKind, gettext_noop


def read(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    """The feed as it is, with the links and pictures that the recipe finds in its items."""
    [page] = pages
    return amended_feed(
        page.content, link=recipe.link, image=recipe.image, content_type=page.content_type, url=page.url
    )


KIND = SourceKind(
    label=gettext_noop("Feed (RSS, Atom or JSON Feed)"),
    help=gettext_noop("A feed needs none of these. They are XPaths that begin at its items."),
    fields=("image",),
    read=read,
    is_feed=True,
)
