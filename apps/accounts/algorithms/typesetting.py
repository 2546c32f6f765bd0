"""How articles are set: size, line spacing, typeface and width, each a step; serialized for a field or a cookie."""

from collections.abc import Mapping
from typing import NamedTuple, Self

SIZES = range(1, 6)  # small to large; 2 is the default
LEADINGS = range(1, 4)  # tight, normal, relaxed
STEPS = {
    "size": SIZES,
    "leading": LEADINGS,
    "family": range(1, 3),  # serif, sans
    "width": range(1, 4),  # narrow, normal, wide
}


class Typesetting(NamedTuple):
    size: int = 2
    leading: int = 2
    family: int = 1
    width: int = 2

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse what `written` returns; invalid and missing parts become defaults.

        >>> Typesetting.read("4.1.2.3").written, Typesetting.read("9.1").written, Typesetting.read("nonsense").written
        ('4.1.2.3', '2.1.1.2', '2.2.1.2')
        """
        return cls().changed(dict(zip(STEPS, text.split("."), strict=False)))

    def changed(self, steps: Mapping[str, str]) -> Self:
        """With other steps, as far as they are valid.

        >>> Typesetting().changed({"size": "5", "width": "0"})
        Typesetting(size=5, leading=2, family=1, width=2)
        """
        valid = {name: int(steps[name]) for name, known in STEPS.items() if steps.get(name, "") in map(str, known)}
        return self._replace(**valid)

    @property
    def written(self) -> str:
        return ".".join(map(str, self))
