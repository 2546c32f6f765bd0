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
        """Compile the expressions, given by field. Raises BadExpression for an invalid one."""
        self._written = expressions
        self._compiled = {name: regex(text) for name, text in expressions.items() if text and not is_address(text)}

    def channel(self, text: str) -> str:
        """The part with the items, by default the whole text. Raises NotAFeed if the expression finds nothing."""
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

    def items(self, channel: str) -> list[FoundItem]:
        """The items between separators; pieces without a title and a link are skipped. Raises NotAFeed without any."""
        pieces = list(_split(self._compiled["item"], channel))
        if len(pieces) < 2:
            raise NotAFeed(f"The item separator “{self._written['item']}” found nothing in the document.")
        found = [self._item(piece) for piece in pieces]
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
