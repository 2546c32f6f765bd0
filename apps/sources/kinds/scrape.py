from collections.abc import Sequence

from apps.sources.formats.feed import ParsedFeed
from apps.sources.formats.pages import Follow, Page
from apps.sources.formats.podcast_pages import follow
from apps.sources.formats.recipes import Recipe
from apps.sources.kinds import SourceKind, gettext_noop


def read(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed | Follow:
    return follow(pages, recipe.to_json())


KIND = SourceKind(
    label=gettext_noop("Podcast on web pages, by following links"),
    help=gettext_noop("The last page is the one that names the recording; the other paths are XPaths on it."),
    fields=("more", "title", "description", "date", "image"),
    required=("more",),
    read=read,
    is_page=True,
)
