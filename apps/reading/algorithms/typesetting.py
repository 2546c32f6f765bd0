"""Text size and line spacing as chosen by the reader, serialized for a cookie."""

from dataclasses import dataclass
from typing import Self

from apps.web.algorithms.numbers import whole_number

SIZES = range(1, 6)  # small to large; 2 is the default
LEADINGS = range(1, 4)  # tight, normal, relaxed


@dataclass(frozen=True, slots=True)
class Typesetting:
    size: int = 2
    leading: int = 2

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse what `written` returns; invalid parts become defaults.

        >>> Typesetting.read("4.1"), Typesetting.read("9.1"), Typesetting.read("nonsense")
        (Typesetting(size=4, leading=1), Typesetting(size=2, leading=1), Typesetting(size=2, leading=2))
        """
        size, _, leading = text.partition(".")
        return cls().changed(size, leading)

    def changed(self, size: str, leading: str) -> Self:
        """With other steps, if the texts contain valid ones.

        >>> Typesetting().changed("5", "")
        Typesetting(size=5, leading=2)
        """
        return type(self)(_step(size, SIZES, self.size), _step(leading, LEADINGS, self.leading))

    @property
    def written(self) -> str:
        return f"{self.size}.{self.leading}"


def _step(text: str, steps: range, otherwise: int) -> int:
    step = whole_number(text) or 0
    return step if step in steps else otherwise
