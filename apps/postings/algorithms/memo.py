"""What a function returns for words, kept up to a bound: news repeats its words."""

from collections.abc import Callable
from typing import TypeVar

_Value = TypeVar("_Value")


class Memo(dict[str, _Value]):
    """Values by word, read where they are missing: a dictionary lookup is much faster than hashing or stemming.

    >>> lengths = Memo(room=1, read=len)
    >>> lengths["storm"], lengths["sea"], dict(lengths)
    (5, 3, {'sea': 3})
    """

    def __init__(self, room: int, read: Callable[[str], _Value]) -> None:
        super().__init__()
        self._room, self._read = room, read

    def __missing__(self, word: str) -> _Value:
        if len(self) >= self._room:
            self.clear()
        value = self[word] = self._read(word)
        return value
