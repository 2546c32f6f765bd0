"""How large and how loose a text is set: steps that a reader chooses, kept in the browser as a short text."""

from dataclasses import dataclass
from typing import Self

SIZES = range(1, 6)  # from small to large; 2 is that of articles
LEADINGS = range(1, 4)  # of lines: dense, as articles have it, airy


@dataclass(frozen=True, slots=True)
class Typesetting:
    size: int = 2
    leading: int = 2

    @classmethod
    def read(cls, text: str) -> Self:
        """What `written` wrote; of anything else, what articles have.

        >>> Typesetting.read("4.1"), Typesetting.read("9.1"), Typesetting.read("nonsense")
        (Typesetting(size=4, leading=1), Typesetting(size=2, leading=1), Typesetting(size=2, leading=2))
        """
        size, _, leading = text.partition(".")
        return cls().changed(size, leading)

    def changed(self, size: str, leading: str) -> Self:
        """With other steps, where the texts name any.

        >>> Typesetting().changed("5", "")
        Typesetting(size=5, leading=2)
        """
        return type(self)(_step(size, SIZES, self.size), _step(leading, LEADINGS, self.leading))

    @property
    def written(self) -> str:
        return f"{self.size}.{self.leading}"


def _step(text: str, steps: range, otherwise: int) -> int:
    step = int(text) if len(text) == 1 and text.isascii() and text.isdecimal() else 0
    return step if step in steps else otherwise
