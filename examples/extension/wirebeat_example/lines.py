"""Sources that are plain text: each line is an article, such as the lines of a status page."""

from collections.abc import Sequence

from apps.sources.formats.feed import NotAFeed, Page, ParsedEntry, ParsedFeed
from apps.sources.formats.recipes import Recipe
from apps.sources.formats.trees import decoded
from apps.sources.kinds import SourceKind, gettext_noop


def read(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    [page] = pages
    utf8, problems = decoded(page.content, page.content_type)
    lines = [line for line in utf8.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        raise NotAFeed("The document has no lines.")
    return ParsedFeed("lines", entries=tuple(ParsedEntry(title=line, guid=line) for line in lines), problems=problems)


KIND = SourceKind(label=gettext_noop("Lines of a text"), read=read)
