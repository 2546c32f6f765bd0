"""Items of texts of any kind, by regular expressions."""

from collections.abc import Iterator

import re2

from apps.sources.formats.expressions import regex
from apps.sources.formats.feed import NotAFeed
from apps.sources.formats.items import MAX_ITEMS, FoundItem, is_address, markup_of_text
from apps.sources.formats.text import MAX_CONTENT, MAX_IDENTIFIER


class TextReader:
    """Finds a channel, its items and their fields in a text; each by the first group, or the whole match."""

    def __init__(self, expressions: dict[str, str]) -> None:
        """Make ready the expressions by their fields' names.

        Raises
        ------
        BadExpression
            If one of them cannot be read.
        """
        self._written = expressions
        self._compiled = {name: regex(text) for name, text in expressions.items() if text and not is_address(text)}

    def channel(self, text: str) -> str:
        """The part that items are looked for in; the whole text if no expression says it.

        Raises
        ------
        NotAFeed
            If the expression finds nothing.
        """
        if "channel" not in self._compiled:
            return text
        found = self.find("channel", text)
        if not found:
            raise NotAFeed(f"The channel expression “{self._written['channel']}” found nothing in the document.")
        return found

    def find(self, name: str, text: str) -> str:
        compiled = self._compiled.get(name)
        match = compiled.search(text) if compiled is not None else None
        if compiled is None or match is None:
            return ""
        return match[1] or "" if compiled.groups else match[0]

    def pieces(self, channel: str) -> list[str]:
        """What the separator of items cuts the channel into; at most one more than items are read.

        Raises
        ------
        NotAFeed
            If the separator is not in it.
        """
        pieces = list(_split(self._compiled["item"], channel))
        if len(pieces) < 2:
            raise NotAFeed(f"The item separator “{self._written['item']}” found nothing in the document.")
        return pieces

    def items(self, channel: str) -> list[FoundItem]:
        """The items; what is before, behind and between them has neither a title nor a link."""
        found = [self._item(piece) for piece in self.pieces(channel)]
        kept = [item for item in found if item.title or item.link]
        if not kept:
            raise NotAFeed(f"The title expression “{self._written['title']}” found nothing in any of the pieces.")
        return kept

    def _item(self, piece: str) -> FoundItem:
        date, author = self.find("date", piece), self.find("author", piece)
        return FoundItem(
            title=self.find("title", piece)[: 4 * MAX_IDENTIFIER],
            description=markup_of_text(self.find("description", piece)[:MAX_CONTENT]),
            link=self.find("link", piece),
            dates=(date,) if date else (),
            image=self.find("image", piece),
            authors=(author,) if author else (),
        )


def _split(separator: re2._Regexp, text: str) -> Iterator[str]:
    end = 0
    count = 0
    for match in separator.finditer(text):
        if match.end() == match.start():  # an expression may match nothing, which separates nothing
            continue
        yield text[end : match.start()]
        end = match.end()
        count += 1
        if count > MAX_ITEMS:
            return
    yield text[end:]
